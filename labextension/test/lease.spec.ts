import { describe, expect, it } from 'vitest';

import { age, distance, isAlive } from '../src/lease';

const at = (monotonic: number, wall = monotonic) => ({ monotonic, wall });
const times = { since_ask_ms: 40, margin_ms: 12, lease_ms: 10_000 };

describe('the age of a lease', () => {
  it('is what passed since the question, less what had passed when it was granted', () => {
    expect(age(times, at(1000), at(1040))).toBe(12);
    expect(age(times, at(1000), at(3040))).toBe(2012);
  });

  it('counts the way of the question, since it may have been late', () => {
    const late = { ...times, margin_ms: 4000 };
    expect(isAlive(late, at(0), at(6000))).toBe(true);
    expect(isAlive(late, at(0), at(6041))).toBe(false);
  });

  it.each([
    ['at once', at(1040), true],
    ['a moment before its end', at(11_027), true],
    ['at its very end', at(11_028), false],
    ['after the page was frozen for a minute', at(61_040), false]
  ])('decides %s', (_, moment, alive) => {
    expect(isAlive(times, at(1000), moment)).toBe(alive);
  });

  it('believes the wall clock after a sleep in which the other one stood still', () => {
    expect(isAlive(times, at(1000, 5000), at(1040, 65_040))).toBe(false);
  });

  it('believes the other clock when the wall clock is set back', () => {
    expect(distance(at(1000, 9_000_000), at(12_000, 0))).toBe(11_000);
  });
});
