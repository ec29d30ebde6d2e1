import type { ISharedNotebook } from '@jupyter/ydoc';
import type { IOutput } from '@jupyterlab/nbformat';

import { identityOf } from './identity';
import { IStanding, placeCell } from './insert';
import type { ICodeCell } from './protocol';

/**
 * Set what a headless run left, by identity (contract 5.8): the cell, its outputs and its number.
 *
 * Null for a cell that is no follow-up's.
 */
export function placeOutputs(
  notebook: ISharedNotebook,
  recorded: ICodeCell
): IStanding | null {
  const identity = identityOf(recorded.metadata);
  if (identity === null) {
    return null;
  }
  const { source } = recorded;
  const standing = placeCell(notebook, {
    ...identity,
    cell_id: recorded.id ?? null,
    source: typeof source === 'string' ? source : source.join(''),
    earlier_sources: []
  });
  notebook.transact(() => {
    standing.cell.setOutputs([...recorded.outputs] as IOutput[]);
    standing.cell.execution_count = recorded.execution_count;
  }, false);
  return standing;
}
