import { YNotebook } from '@jupyter/ydoc';
import { beforeEach, describe, expect, it } from 'vitest';

import { lostAnswers } from '../src/answers';
import { placeOutputs } from '../src/place';
import type { ITurnView } from '../src/views';

const turn: ITurnView = {
  turn: 4,
  input: { kind: 'followup', followup_id: 'followup-2' },
  outcome: 'completed',
  messages: [
    { role: 'user', text: 'look at it' },
    { role: 'assistant', text: 'Here it is.' },
    { role: 'tool' },
    { role: 'assistant', text: 'It **falls**.' }
  ],
  outputs: [
    { 'text/markdown': 'Here it is.' },
    { 'image/png': 'AAAA' },
    { 'text/markdown': 'It **falls**.' }
  ]
};

let notebook: YNotebook;

beforeEach(() => {
  notebook = new YNotebook();
  notebook.addCell({ cell_type: 'code', source: 'one' });
});

describe('an answer whose cell the notebook has lost', () => {
  it('is found, and put back with its source and what it showed', () => {
    const [lost] = lostAnswers([turn], notebook, 's-1');
    expect(lost).toMatchObject({
      followupId: 'followup-2',
      outcome: 'completed'
    });
    if (lost) {
      placeOutputs(notebook, lost.cell);
    }
    expect(notebook.getCell(1).toJSON()).toMatchObject({
      source: '%%agent --followup followup-2\nlook at it',
      outputs: [
        { data: { 'text/markdown': 'Here it is.' } },
        { data: { 'image/png': 'AAAA' } },
        {
          data: {
            'text/markdown': 'It **falls**.',
            'text/plain': 'It **falls**.'
          }
        }
      ]
    });
    expect(lostAnswers([turn], notebook, 's-1')).toEqual([]);
  });

  it.each<[string, Partial<ITurnView>]>([
    ['a prompt', { input: { kind: 'prompt' } }],
    ['a turn that is not over', { outcome: null }]
  ])('is never %s', (_, part) => {
    expect(lostAnswers([{ ...turn, ...part }], notebook, 's-1')).toEqual([]);
  });
});
