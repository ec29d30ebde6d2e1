import type { ISharedCell, ISharedNotebook } from '@jupyter/ydoc';

/** The key of cell metadata, and of a request's metadata, that is ours. */
export const METADATA_KEY = 'jupyter_schedule';

/** Which follow-up a cell belongs to (contract 5.6). */
export interface IIdentity {
  readonly session_id: string;
  readonly followup_id: string;
}

/** Read an identity out of metadata that a person may have edited; null when there is none. */
export function identityOf(metadata: unknown): IIdentity | null {
  const own = (metadata as Record<string, unknown> | undefined)?.[METADATA_KEY];
  const { session_id, followup_id } = (own ?? {}) as Record<string, unknown>;
  return typeof session_id === 'string' && typeof followup_id === 'string'
    ? { session_id, followup_id }
    : null;
}

/** The cells that claim to be this follow-up's, with their positions, in the notebook's order. */
export function cellsOf(
  notebook: ISharedNotebook,
  identity: IIdentity
): { cell: ISharedCell; index: number }[] {
  return notebook.cells
    .map((cell, index) => ({ cell, index }))
    .filter(({ cell }) => {
      const found = identityOf(cell.getMetadata());
      return (
        found?.session_id === identity.session_id &&
        found.followup_id === identity.followup_id
      );
    });
}
