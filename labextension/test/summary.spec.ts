import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';

import { soonestFirst, statusText, waitingCold } from '../src/summary';
import type { IFollowupView, INotebookView, SessionView } from '../src/views';

const trans = nullTranslator.load('jupyter_schedule');
const NOW = Date.parse('2026-09-01T05:00:00.000Z');
const reminder = {
  id: 'schedule-1',
  kind: 'after',
  prompt: 'look',
  scheduled_at: '2026-09-01T05:20:00.000Z',
  state: 'scheduled'
} as const;
const followup = (state: string): IFollowupView => ({
  id: 'followup-1',
  state,
  outcome: null,
  reminders: [],
  accepted_at: '2026-09-01T04:59:00.000Z',
  cell_id: 'c',
  text: 'look'
});
const view: INotebookView = {
  path: 'a.ipynb',
  live: true,
  session_id: 's-1',
  reminders: [reminder, { ...reminder, id: 'schedule-2' }],
  next: reminder.scheduled_at,
  reason: null,
  why: null
};
const problem: SessionView = {
  path: 'a.ipynb',
  live: false,
  code: 'corrupt_schedule_log',
  message: 'line 3 is damaged.'
};

describe('the status bar', () => {
  it.each<[string, SessionView | null, string | null]>([
    ['what waits and when', view, '2 reminders · next 14:20'],
    [
      'that it is paused',
      { ...view, paused: 'person' },
      '2 reminders · paused · next 14:20'
    ],
    [
      'that nobody is attached',
      { ...view, live: false },
      '2 reminders · not attached · next 14:20'
    ],
    [
      'a queued follow-up',
      { ...view, followup: followup('queued') },
      '2 reminders · 1 queued · next 14:20'
    ],
    ['an error as an error', problem, 'Reminders: error'],
    [
      'nothing where nothing waits',
      { ...view, reminders: [], next: null },
      null
    ],
    ['nothing before it knows', null, null]
  ])('says %s', (_, given, expected) => {
    expect(statusText(given, trans, 'Asia/Tokyo', NOW)).toBe(expected);
  });
});

describe('the line of a cold notebook', () => {
  it.each<[string, SessionView | null, number]>([
    [
      'reminders and a queued follow-up',
      { ...view, live: false, followup: followup('queued') },
      3
    ],
    [
      'no follow-up that has ended',
      { ...view, live: false, followup: followup('ended') },
      2
    ],
    ['nothing of a live session', view, 0],
    ['nothing of a problem, which the panel shows', problem, 0],
    ['nothing before it knows', null, 0]
  ])('counts %s', (_, given, expected) => {
    expect(waitingCold(given)).toBe(expected);
  });
});

describe('the list of reminders', () => {
  it('has what is due first on top, and what is due together as it was made', () => {
    const later = {
      ...reminder,
      id: 'schedule-2',
      scheduled_at: '2026-09-01T05:10:00.000Z'
    };
    const together = { ...later, id: 'schedule-3' };
    const given = [reminder, later, together];
    expect(soonestFirst(given)).toEqual([later, together, reminder]);
    expect(given[0]).toBe(reminder);
  });
});
