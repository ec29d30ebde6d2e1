import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';

import { reloadIfChanged } from './disk';

/**
 * Bring a notebook without unsaved changes to the state of the disk, if that is another one.
 *
 * All cells are made anew; the active cell and the scroll position stay where they were.
 */
export async function followDisk(
  { context, content }: NotebookPanel,
  contents: Contents.IManager
): Promise<void> {
  const active = content.activeCell?.model.id;
  const { scrollTop } = content.outerNode;
  if (await reloadIfChanged(context, contents)) {
    const index = content.widgets.findIndex(cell => cell.model.id === active);
    content.activeCellIndex = Math.max(index, 0);
    content.outerNode.scrollTop = scrollTop;
  }
}
