import type { Cell, ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import {
  INotebookModel,
  Notebook,
  NotebookActions,
  NotebookPanel
} from '@jupyterlab/notebook';

interface ICellOfNotebook {
  readonly notebook: Notebook;
  readonly cell: Cell;
}

/**
 * Cells that a person sent on their way and that no kernel may have seen yet.
 *
 * JupyterLab marks a cell as running when it sends the request, but an executor that runs cells
 * elsewhere may take its time. `executed` is not emitted for a cell that was cancelled, so that a
 * cell which has stopped running is over, too.
 */
export class Scheduled {
  constructor() {
    NotebookActions.executionScheduled.connect(this._onScheduled, this);
    NotebookActions.executed.connect(this._onExecuted, this);
  }

  /** Forget what a kernel that restarts, ends or is replaced will never run. */
  watch(panel: NotebookPanel): void {
    const forget = () => {
      const { model } = panel;
      if (model !== null) {
        this._cells.delete(model);
      }
    };
    panel.sessionContext.kernelChanged.connect(forget, this);
    panel.sessionContext.statusChanged.connect((_, status) => {
      if (['restarting', 'autorestarting', 'dead'].includes(status)) {
        forget();
      }
    }, this);
  }

  /** How many cells of the notebook are on their way. */
  count(notebook: INotebookModel): number {
    const waiting = this._cells.get(notebook);
    const present = new Set(notebook.cells);
    return [...(waiting ?? [])].filter(cell => present.has(cell)).length;
  }

  private _onScheduled(_: unknown, { notebook, cell }: ICellOfNotebook): void {
    if (notebook.model === null || cell.model.type !== 'code') {
      return;
    }
    const model = cell.model as ICodeCellModel;
    const waiting = this._cells.get(notebook.model) ?? new Set();
    this._cells.set(notebook.model, waiting.add(model));
    const onState = (_: unknown, change: { name: string }) => {
      if (change.name === 'executionState' && model.executionState === 'idle') {
        waiting.delete(model);
        model.stateChanged.disconnect(onState, this);
      }
    };
    model.stateChanged.connect(onState, this);
  }

  private _onExecuted(_: unknown, { notebook, cell }: ICellOfNotebook): void {
    if (notebook.model !== null) {
      this._cells.get(notebook.model)?.delete(cell.model);
    }
  }

  private readonly _cells = new WeakMap<INotebookModel, Set<ICellModel>>();
}
