import type { ISharedNotebook } from '@jupyter/ydoc';

import { cellsOf, METADATA_KEY } from './identity';
import type { ICodeCell } from './protocol';
import type { ITurnView } from './views';

/** A follow-up's turn that is over, and whose cell the notebook does not hold. */
export interface ILostAnswer {
  readonly followupId: string;
  readonly outcome: string;
  /** The cell as it would stand there, with its recorded answer. */
  readonly cell: ICodeCell;
}

/** Find the answers that a notebook has lost, oldest first. */
export function lostAnswers(
  turns: readonly ITurnView[],
  notebook: ISharedNotebook,
  sessionId: string
): ILostAnswer[] {
  return turns.flatMap(({ input, outcome, messages, outputs }) => {
    const followupId = input.followup_id;
    if (input.kind !== 'followup' || !followupId || outcome === null) {
      return [];
    }
    const identity = { session_id: sessionId, followup_id: followupId };
    if (cellsOf(notebook, identity).length > 0) {
      return [];
    }
    const text = messages.find(({ role }) => role === 'user')?.text ?? '';
    const cell: ICodeCell = {
      cell_type: 'code',
      source: `%%agent --followup ${followupId}\n${text}`,
      metadata: { [METADATA_KEY]: identity },
      outputs: outputs.map(data => ({
        output_type: 'display_data',
        data: asShownFirst(data),
        metadata: {}
      })),
      execution_count: null
    };
    return [{ followupId, outcome, cell }];
  });
}

/** An agent's text is recorded as Markdown alone; what is no browser needs it as plain text, too. */
function asShownFirst(data: Record<string, unknown>): Record<string, unknown> {
  const text = data['text/markdown'];
  return text === undefined ? data : { 'text/plain': text, ...data };
}
