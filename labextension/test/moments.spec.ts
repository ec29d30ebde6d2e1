import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';

import { duration, inUtc, inZone, shortly, untilOrSince } from '../src/moments';

const trans = nullTranslator.load('jupyter_schedule');
const INSTANT = '2026-09-01T05:20:30.250Z';
const NOW = Date.parse('2026-09-01T05:00:00.000Z');

describe('an instant', () => {
  it('is shown in the zone of the person, with the year', () => {
    const shown = inZone(INSTANT, 'Asia/Shanghai');
    expect(shown).toContain('2026');
    expect(shown).toContain('13:20:30');
  });

  it('is shown in UTC, with the year', () => {
    expect(inUtc(INSTANT)).toBe('2026-09-01 05:20:30 UTC');
  });

  it('is short for today in the zone of the person, and has its date otherwise', () => {
    expect(shortly(INSTANT, 'Asia/Tokyo', NOW)).toBe('14:20');
    expect(shortly(INSTANT, 'Pacific/Kiritimati', NOW - 86_400_000)).toBe(
      '2026-09-01 19:20'
    );
  });

  it.each([
    [INSTANT, 'in 20 min 30 s'],
    ['2026-09-01T04:59:15.000Z', 'due 45 s ago'],
    ['2026-09-01T05:00:00.000Z', 'due 0 s ago'],
    ['2026-09-03T08:00:59.000Z', 'in 2 d 3 h'],
    ['2026-09-02T05:00:10.000Z', 'in 1 d']
  ])('%s is %s', (instant, shown) => {
    expect(untilOrSince(instant, NOW, trans)).toBe(shown);
  });
});

describe('a length of time', () => {
  it.each([
    [0, '0 s'],
    [999, '0 s'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [90_061_000, '1 d 1 h']
  ])('of %i ms is %s', (milliseconds, shown) => {
    expect(duration(milliseconds, trans)).toBe(shown);
  });
});
