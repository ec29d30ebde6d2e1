import { describe, expect, it } from 'vitest';

import { IFacts, judge } from '../src/readiness';

const idle: IFacts = {
  isLoaded: true,
  isReadOnly: false,
  connection: 'connected',
  kernel: 'idle',
  isEnding: false,
  hasPendingInput: false,
  running: 0,
  scheduled: 0
};

const cases: [string, Partial<IFacts>, string, string][] = [
  ['nothing is in the way', {}, 'ready', ''],
  ['the notebook is still loading', { isLoaded: false }, 'gone', 'not_loaded'],
  ['the file may not be written', { isReadOnly: true }, 'read_only', ''],
  ['a cell runs', { running: 1 }, 'busy', 'cell_running'],
  ['a cell is on its way', { scheduled: 2 }, 'busy', 'cell_scheduled'],
  ['input() waits', { hasPendingInput: true }, 'busy', 'pending_input'],
  ['the kernel works', { kernel: 'busy' }, 'busy', 'kernel_busy'],
  [
    'the kernel is not known yet',
    { kernel: 'unknown' },
    'busy',
    'kernel_unknown'
  ],
  [
    'the kernel is being restarted',
    { isEnding: true },
    'busy',
    'kernel_ending'
  ],
  [
    'requests would be kept until a reconnect',
    { connection: 'connecting' },
    'busy',
    'kernel_connecting'
  ],
  [
    'there is no kernel',
    { connection: null, kernel: null },
    'busy',
    'kernel_gone'
  ]
];

describe('whether a follow-up could run now', () => {
  it.each(cases)('when %s', (_, facts, state, detail) => {
    expect(judge({ ...idle, ...facts })).toEqual({ state, detail });
  });
});
