import { describe, expect, it } from 'vitest';

import { differ } from '../src/disk';

const state = (last_modified: string, hash?: string) => ({
  last_modified,
  ...(hash === undefined ? {} : { hash, hash_algorithm: 'sha256' })
});

describe('two states of a file', () => {
  it.each([
    [
      'the same hash at another time',
      state('2026-09-01T01:00:00Z', 'a'),
      state('2026-09-01T02:00:00Z', 'a'),
      false
    ],
    [
      'another hash at the same time',
      state('2026-09-01T01:00:00Z', 'a'),
      state('2026-09-01T01:00:00Z', 'b'),
      true
    ],
    [
      'no hashes and one time',
      state('2026-09-01T01:00:00Z'),
      state('2026-09-01T01:00:00Z'),
      false
    ],
    [
      'no hashes and times as far apart as a file system rounds',
      state('2026-09-01T01:00:00.000Z'),
      state('2026-09-01T01:00:00.400Z'),
      false
    ],
    [
      'no hashes and a later time',
      state('2026-09-01T01:00:00Z'),
      state('2026-09-01T01:00:02Z'),
      true
    ],
    [
      'no hashes and an earlier time, as of a restored file',
      state('2026-09-01T01:00:02Z'),
      state('2026-09-01T01:00:00Z'),
      true
    ],
    [
      'one hash only, and one time',
      state('2026-09-01T01:00:00Z', 'a'),
      state('2026-09-01T01:00:00Z'),
      false
    ]
  ])('with %s', (_, known, found, expected) => {
    expect(differ(known, found)).toBe(expected);
  });
});
