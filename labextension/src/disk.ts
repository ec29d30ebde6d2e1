import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';

type Context = DocumentRegistry.Context;

/** File times are compared with this tolerance, in milliseconds, as JupyterLab does. */
const TOLERANCE = 500;

/** What is known of a file's state: of the one this page loaded, or of the one on disk. */
export type FileState = Pick<
  Contents.IModel,
  'hash' | 'hash_algorithm' | 'last_modified'
>;

/** Whether two states are of different content. Times count only where a hash is missing. */
export function differ(known: FileState, found: FileState): boolean {
  if (known.hash && found.hash) {
    return known.hash !== found.hash;
  }
  const [before, after] = [known, found].map(state =>
    new Date(state.last_modified).getTime()
  ) as [number, number];
  return Math.abs(after - before) > TOLERANCE;
}

/** How the file that a page holds stands on disk. */
export type DiskState = 'same' | 'changed' | 'unknown';

/**
 * Look at the disk before a page saves or announces a notebook.
 *
 * Whoever saves without looking brings up the "File Changed" dialog, or writes back a file that
 * was deleted. A document that a collaboration room keeps is always as the room has it.
 */
export async function lookAtDisk(
  context: Context,
  contents: Contents.IManager
): Promise<DiskState> {
  if (context.model.collaborative) {
    return 'same';
  }
  const known = context.contentsModel;
  if (known === null) {
    return 'unknown';
  }
  try {
    const found = await contents.get(context.path, {
      content: false,
      hash: true
    });
    return differ(known, found) ? 'changed' : 'same';
  } catch {
    // Deleted, or no server: whichever it is, nothing may be written now.
    return 'unknown';
  }
}

/** Load what is on disk into a notebook without unsaved changes; true when that was needed. */
export async function reloadIfChanged(
  context: Context,
  contents: Contents.IManager
): Promise<boolean> {
  const isClean = () => !context.isDisposed && !context.model.dirty;
  if (
    !isClean() ||
    (await lookAtDisk(context, contents)) !== 'changed' ||
    !isClean()
  ) {
    return false;
  }
  try {
    await context.revert();
    return true;
  } catch {
    // JupyterLab has told the person already, as for any file that cannot be read.
    return false;
  }
}
