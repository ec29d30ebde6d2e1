import type { ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';

import type { Readiness } from './protocol';
import type { Scheduled } from './scheduled';

/** All that decides whether a follow-up could run in a notebook now (contract 5.1). */
export interface IFacts {
  /** False while the notebook is loading or when it was closed. */
  readonly isLoaded: boolean;
  readonly isReadOnly: boolean;
  readonly connection: Kernel.ConnectionStatus | null;
  readonly kernel: Kernel.Status | null;
  /** The kernel is being shut down or restarted. */
  readonly isEnding: boolean;
  readonly hasPendingInput: boolean;
  readonly running: number;
  readonly scheduled: number;
}

/** An answer to the server's question, with what a person may want to know. */
export interface IReadiness {
  readonly state: Readiness;
  readonly detail: string;
}

/**
 * Decide on the facts.
 *
 * The server watches the kernel itself. What only a tab knows is what it sent and the kernel has
 * not seen yet, and whether its own connection would hold a request back.
 */
export function judge(facts: IFacts): IReadiness {
  if (!facts.isLoaded) {
    return { state: 'gone', detail: 'not_loaded' };
  }
  if (facts.isReadOnly) {
    return { state: 'read_only', detail: '' };
  }
  const obstacles: readonly [boolean, string][] = [
    [facts.isEnding, 'kernel_ending'],
    [facts.connection !== 'connected', `kernel_${facts.connection ?? 'gone'}`],
    [facts.hasPendingInput, 'pending_input'],
    [facts.running > 0, 'cell_running'],
    [facts.scheduled > 0, 'cell_scheduled'],
    [facts.kernel !== 'idle', `kernel_${facts.kernel ?? 'gone'}`]
  ];
  const obstacle = obstacles.find(([holds]) => holds);
  return obstacle === undefined
    ? { state: 'ready', detail: '' }
    : { state: 'busy', detail: obstacle[1] };
}

/** Whether the file may not be written, as far as this page knows. */
export function isReadOnly({ context }: NotebookPanel): boolean {
  return context.model.readOnly || context.contentsModel?.writable === false;
}

/** Look at a notebook. */
export function look(panel: NotebookPanel, scheduled: Scheduled): IFacts {
  const { context, sessionContext } = panel;
  const kernel = sessionContext.session?.kernel ?? null;
  const isLoaded = !panel.isDisposed && context.isReady;
  return {
    isLoaded,
    isReadOnly: isLoaded && isReadOnly(panel),
    connection: kernel?.connectionStatus ?? null,
    kernel: kernel?.status ?? null,
    isEnding: sessionContext.isTerminating || sessionContext.isRestarting,
    hasPendingInput: sessionContext.pendingInput,
    running: isLoaded ? [...context.model.cells].filter(isRunning).length : 0,
    scheduled: isLoaded ? scheduled.count(context.model) : 0
  };
}

function isRunning(cell: ICellModel): boolean {
  return (
    cell.type === 'code' &&
    (cell as ICodeCellModel).executionState === 'running'
  );
}
