import type { NotebookPanel } from '@jupyterlab/notebook';

import { identityOf } from './identity';

const MARK = 'jp-Schedule-followup';

/** Give the cells that a reminder brought a discreet mark, and take it from those that are none. */
export function markFollowups(panel: NotebookPanel, isWanted: boolean): void {
  for (const cell of panel.content.widgets) {
    const isFollowup =
      identityOf(cell.model.sharedModel.getMetadata()) !== null;
    cell.toggleClass(MARK, isWanted && isFollowup);
  }
}
