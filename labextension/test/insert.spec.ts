import { YNotebook } from '@jupyter/ydoc';
import { beforeEach, describe, expect, it } from 'vitest';

import { identityOf, METADATA_KEY } from '../src/identity';
import { IFollowupCell, placeCell } from '../src/insert';

const wanted: IFollowupCell = {
  session_id: 's-1',
  followup_id: 'followup-1',
  cell_id: 'derived-1',
  source: '%%agent --followup followup-1\nsecond text',
  earlier_sources: ['%%agent --followup followup-1\nfirst text']
};
const identity = { session_id: 's-1', followup_id: 'followup-1' };

let notebook: YNotebook;

function add(source: string, metadata = {}, id?: string) {
  const cell = { cell_type: 'code', source, metadata } as const;
  return notebook.addCell(id === undefined ? cell : { ...cell, id });
}

function sources(): string[] {
  return notebook.cells.map(cell => cell.getSource());
}

beforeEach(() => {
  notebook = new YNotebook();
  add('one');
  add('two');
  notebook.undoManager.clear();
});

describe('a notebook without the follow-up', () => {
  it('gets its cell below the last one, with identity and derived id', () => {
    const { cell, index, existed } = placeCell(notebook, wanted);
    expect(sources()).toEqual(['one', 'two', wanted.source]);
    expect([index, existed, cell.getId()]).toEqual([2, false, 'derived-1']);
    expect(identityOf(cell.getMetadata())).toEqual(identity);
    expect(cell.getMetadata('trusted')).toBe(true);
  });

  it('gets a cell with an id of its own where none is given', () => {
    const { cell } = placeCell(notebook, { ...wanted, cell_id: null });
    expect(cell.getId()).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('does not take the cell of another session with the same follow-up id', () => {
    const other = { ...identity, session_id: 's-2' };
    add(wanted.source, { [METADATA_KEY]: other }, 'theirs');
    expect(placeCell(notebook, wanted).existed).toBe(false);
    expect(notebook.cells).toHaveLength(4);
  });
});

describe('a notebook that has the follow-up', () => {
  it('keeps its one cell', () => {
    placeCell(notebook, wanted);
    add('three');
    const { index, existed } = placeCell(notebook, wanted);
    expect([index, existed]).toEqual([2, true]);
    expect(sources()).toEqual(['one', 'two', wanted.source, 'three']);
  });

  it('gets the current source in the place of an earlier one', () => {
    const [earlier] = wanted.earlier_sources as [string];
    placeCell(notebook, { ...wanted, source: earlier, earlier_sources: [] });
    const { index, existed } = placeCell(notebook, wanted);
    expect([index, existed]).toEqual([2, true]);
    expect(sources()).toEqual(['one', 'two', wanted.source]);
  });

  it('leaves an edited cell to the person who edited it, and gets a new one', () => {
    const { cell: edited } = placeCell(notebook, wanted);
    edited.setSource('my own question');
    const { cell, index, existed } = placeCell(notebook, wanted);
    expect(sources()).toEqual(['one', 'two', 'my own question', wanted.source]);
    expect([index, existed]).toEqual([3, false]);
    expect(edited.getMetadata(METADATA_KEY)).toBeUndefined();
    expect(identityOf(cell.getMetadata())).toEqual(identity);
    expect(cell.getId()).not.toBe(edited.getId());
  });

  it('does not take a markdown cell for it', () => {
    notebook.addCell({
      cell_type: 'markdown',
      source: wanted.source,
      metadata: { [METADATA_KEY]: identity }
    });
    expect(placeCell(notebook, wanted)).toMatchObject({
      index: 3,
      existed: false
    });
    expect(notebook.getCell(2).getMetadata(METADATA_KEY)).toBeUndefined();
  });

  it('uses the first one when a person has copied it', () => {
    const metadata = { [METADATA_KEY]: identity };
    add(wanted.source, metadata, 'a-copy');
    add(wanted.source, metadata, 'derived-1');
    expect(placeCell(notebook, wanted)).toMatchObject({
      index: 3,
      existed: true
    });
    expect(notebook.cells).toHaveLength(4);
  });
});

describe("a person's undo", () => {
  it('does not take the cell away', () => {
    placeCell(notebook, wanted);
    expect(notebook.canUndo()).toBe(false);
  });

  it('takes back what the person did, before and after', () => {
    notebook.getCell(0).setSource('one, edited');
    placeCell(notebook, wanted);
    notebook.undo();
    expect(sources()).toEqual(['one', 'two', wanted.source]);
    notebook.redo();
    expect(sources()).toEqual(['one, edited', 'two', wanted.source]);
  });

  it('can still be redone after the cell came', () => {
    notebook.getCell(1).setSource('two, edited');
    notebook.undo();
    placeCell(notebook, wanted);
    expect(notebook.canRedo()).toBe(true);
    notebook.redo();
    expect(sources()).toEqual(['one', 'two, edited', wanted.source]);
  });

  it('does not bring an earlier source back', () => {
    const [earlier] = wanted.earlier_sources as [string];
    placeCell(notebook, { ...wanted, source: earlier, earlier_sources: [] });
    const cell = placeCell(notebook, wanted).cell;
    expect(cell.canUndo()).toBe(false);
  });
});
