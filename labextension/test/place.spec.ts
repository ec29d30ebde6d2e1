import { YNotebook } from '@jupyter/ydoc';
import { beforeEach, describe, expect, it } from 'vitest';

import { METADATA_KEY } from '../src/identity';
import { placeOutputs } from '../src/place';
import type { ICodeCell } from '../src/protocol';

const recorded: ICodeCell = {
  cell_type: 'code',
  id: 'derived-1',
  source: ['%%agent --followup followup-1\n', 'text'],
  metadata: {
    [METADATA_KEY]: { session_id: 's-1', followup_id: 'followup-1' }
  },
  outputs: [{ output_type: 'stream', name: 'stdout', text: 'done\n' }],
  execution_count: 7
};

let notebook: YNotebook;

beforeEach(() => {
  notebook = new YNotebook();
  notebook.addCell({ cell_type: 'code', source: 'one' });
  notebook.undoManager.clear();
});

describe('what a headless run left', () => {
  it('is set into the cell that stands there', () => {
    placeOutputs(notebook, { ...recorded, outputs: [] });
    notebook.addCell({ cell_type: 'code', source: 'two' });
    placeOutputs(notebook, recorded);
    const cells = notebook.cells.map(cell => cell.toJSON());
    expect(cells.map(cell => cell.source)).toEqual([
      'one',
      '%%agent --followup followup-1\ntext',
      'two'
    ]);
    expect(cells[1]).toMatchObject({
      id: 'derived-1',
      execution_count: 7,
      outputs: [{ output_type: 'stream', name: 'stdout', text: 'done\n' }]
    });
  });

  it('comes with its cell where a tab has not seen it', () => {
    expect(placeOutputs(notebook, recorded)).toMatchObject({
      index: 1,
      existed: false
    });
  });

  it('is no step of undo', () => {
    placeOutputs(notebook, recorded);
    placeOutputs(notebook, { ...recorded, execution_count: 8 });
    expect(notebook.canUndo()).toBe(false);
  });

  it('is not taken from a cell that is no follow-up', () => {
    expect(placeOutputs(notebook, { ...recorded, metadata: {} })).toBeNull();
    expect(notebook.cells).toHaveLength(1);
  });
});
