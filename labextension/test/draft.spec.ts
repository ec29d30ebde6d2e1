import { describe, expect, it } from 'vitest';

import { EMPTY, fieldOf, IDraft, toArguments } from '../src/draft';

const draft = (part: Partial<IDraft>): IDraft => ({
  ...EMPTY,
  prompt: 'look',
  ...part
});

describe('the create form', () => {
  it.each<[string, Partial<IDraft>, unknown]>([
    ['in 20 minutes', {}, { prompt: 'look', after_seconds: 1200 }],
    [
      'every 2 hours',
      { kind: 'every', amount: '2', unit: 'hours' },
      { prompt: 'look', every_seconds: 7200 }
    ],
    [
      'at a time in the zone of the browser',
      { kind: 'at', date: '2026-09-01', time: '09:00' },
      {
        prompt: 'look',
        at: { date: '2026-09-01', time: '09:00', time_zone: 'Asia/Tokyo' }
      }
    ],
    [
      'at a time in another zone',
      { kind: 'at', date: '2026-09-01', time: '09:00', zone: 'UTC' },
      {
        prompt: 'look',
        at: { date: '2026-09-01', time: '09:00', time_zone: 'UTC' }
      }
    ],
    ['nothing to look at', { prompt: ' \n' }, 'prompt'],
    ['no whole number', { amount: '1.5' }, 'amount'],
    ['a negative number', { amount: '-5' }, 'amount'],
    ['no number', { amount: '' }, 'amount'],
    ['no date', { kind: 'at', time: '09:00' }, 'when'],
    ['no time', { kind: 'at', date: '2026-09-01' }, 'when']
  ])('with %s', (_, part, expected) => {
    expect(toArguments(draft(part), 'Asia/Tokyo')).toEqual(expected);
  });

  it.each<[string, IDraft['kind'], unknown]>([
    ['invalid_prompt', 'after', 'prompt'],
    ['invalid_rule', 'at', 'when'],
    ['not_future', 'at', 'when'],
    ['invalid_time_zone', 'at', 'zone'],
    ['frequency_too_high', 'every', 'amount'],
    ['time_out_of_range', 'after', 'amount'],
    ['limit_reached', 'after', null],
    ['persistence_uncertain', 'at', null]
  ])('shows %s of "%s" where it belongs', (code, kind, field) => {
    expect(fieldOf(code, kind)).toBe(field);
  });
});
