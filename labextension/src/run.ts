import type { ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import type {
  INotebookCellExecutor,
  NotebookPanel
} from '@jupyterlab/notebook';
import type { JSONObject } from '@lumino/coreutils';

import type { IStanding } from './insert';
import type { Future, IContributor, IRequest } from './requests';

/** What a follow-up's execute request says about itself, so that the run can claim. */
export interface ITag {
  readonly lease: number;
  readonly session_id: string;
  readonly followup_id: string;
}

/** A run that was begun. */
export interface IRun {
  /** The id of the execute request; null where an executor sends none from this page. */
  readonly msgId: string | null;
  /** Resolves when the run is over, whatever became of it. */
  readonly done: Promise<void>;
}

/**
 * Runs follow-up cells as the person's own Run would, without touching where the person is.
 *
 * `NotebookActions.run…` would put somebody who types into command mode, where the next key can
 * cut a cell; the cell executor does not look at the person at all.
 */
export class FollowupRunner implements IContributor {
  constructor(executor: INotebookCellExecutor) {
    this._executor = executor;
  }

  contribute(request: IRequest): JSONObject | null {
    const tagged = this._tagged;
    if (
      tagged === null ||
      request.cellId !== tagged.cellId ||
      request.kernel.id !== tagged.kernelId
    ) {
      return null;
    }
    return { ...tagged.tag };
  }

  sent(request: IRequest, future: Future): void {
    if (this._tagged !== null && request.cellId === this._tagged.cellId) {
      this._tagged.msgId = future.msg.header.msg_id;
    }
  }

  /**
   * Run a cell under a lease; the request leaves before this returns.
   *
   * Null when the notebook has no widget for the cell, so that nothing can be run.
   */
  run(panel: NotebookPanel, standing: IStanding, tag: ITag): IRun | null {
    const cellId = standing.cell.getId();
    const cell = panel.content.widgets[standing.index];
    if (cell?.model.id !== cellId) {
      return null;
    }
    const tagged = { cellId, tag, msgId: null, kernelId: kernelIdOf(panel) };
    const earlier = this._tagged;
    this._tagged = tagged;
    try {
      const done = this._executor.runCell({
        cell,
        notebook: panel.context.model,
        notebookConfig: panel.content.notebookConfig,
        onCellExecuted: () => undefined,
        onCellExecutionScheduled: () => undefined,
        sessionContext: panel.sessionContext
      });
      const unmark = () => {
        unmarkAborted(cell.model);
      };
      return { msgId: tagged.msgId, done: done.then(nothing, unmark) };
    } finally {
      this._tagged = earlier;
    }
  }

  private readonly _executor: INotebookCellExecutor;
  private _tagged: {
    readonly cellId: string;
    readonly kernelId: string | null;
    readonly tag: ITag;
    msgId: string | null;
  } | null = null;
}

function kernelIdOf(panel: NotebookPanel): string | null {
  return panel.sessionContext.session?.kernel?.id ?? null;
}

function nothing(): void {
  // Deliberately empty: both ends of a run count as its end.
}

/**
 * A run that failed shows its error itself; one that the kernel aborted leaves its cell marked as
 * running, for ever. JupyterLab takes that mark away only after the runs of its own commands.
 */
function unmarkAborted(cell: ICellModel): void {
  const code = cell as ICodeCellModel;
  if (!cell.isDisposed && code.executionCount === null) {
    code.executionState = 'idle';
  }
}
