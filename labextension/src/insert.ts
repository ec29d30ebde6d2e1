import type {
  ISharedCell,
  ISharedCodeCell,
  ISharedNotebook
} from '@jupyter/ydoc';

import { cellsOf, IIdentity, METADATA_KEY } from './identity';

/** What is to stand in the notebook; a grant is one of these. */
export interface IFollowupCell extends IIdentity {
  /** Null for a cell out of a file older than format 4.5. */
  readonly cell_id: string | null;
  readonly source: string;
  /** Sources of earlier dispatches of the same follow-up, which the current one replaces. */
  readonly earlier_sources: readonly string[];
}

/** Where the follow-up's cell stands now. */
export interface IStanding {
  readonly cell: ISharedCodeCell;
  readonly index: number;
  /** True when it stood there before. */
  readonly existed: boolean;
}

/**
 * Make sure that the notebook holds the follow-up's cell exactly once (contract 5.6).
 *
 * A cell that is found with the source of this follow-up is used, and one with an earlier source
 * gets the current one. A cell whose source the log does not know has become a person's: the
 * identity is taken from it. Where none is left a new cell goes below the last one.
 *
 * All of it is one change of the shared document that no undo reaches: a person's undo takes back
 * what the person did (contract 5.8).
 */
export function placeCell(
  notebook: ISharedNotebook,
  wanted: IFollowupCell
): IStanding {
  const found = cellsOf(notebook, wanted);
  const isOurs = (cell: ISharedCell): cell is ISharedCodeCell =>
    cell.cell_type === 'code' &&
    [wanted.source, ...wanted.earlier_sources].includes(cell.getSource());
  const ours = found.filter(({ cell }) => isOurs(cell));
  // A person may have copied the cell, metadata and all: the one with the derived id is the first.
  const kept =
    ours.find(({ cell }) => cell.getId() === wanted.cell_id) ?? ours[0];
  notebook.transact(() => {
    for (const { cell } of found) {
      if (!isOurs(cell)) {
        cell.deleteMetadata(METADATA_KEY);
      }
    }
    if (kept !== undefined) {
      if (kept.cell.getSource() !== wanted.source) {
        kept.cell.setSource(wanted.source);
      }
      return;
    }
    notebook.insertCell(notebook.cells.length, newCell(notebook, wanted));
  }, false);
  const index = kept?.index ?? notebook.cells.length - 1;
  return {
    cell: notebook.getCell(index) as ISharedCodeCell,
    index,
    existed: kept !== undefined
  };
}

function newCell(notebook: ISharedNotebook, wanted: IFollowupCell) {
  const { session_id, followup_id } = wanted;
  // An edited follow-up cell keeps its id; two cells of one id would make the file invalid.
  const isTaken = notebook.cells.some(cell => cell.getId() === wanted.cell_id);
  return {
    cell_type: 'code' as const,
    source: wanted.source,
    metadata: { trusted: true, [METADATA_KEY]: { session_id, followup_id } },
    ...(wanted.cell_id === null || isTaken ? {} : { id: wanted.cell_id })
  };
}
