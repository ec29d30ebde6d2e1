import type { JSONObject } from '@lumino/coreutils';

/** Seconds of the units that the form offers. */
export const UNITS = { seconds: 1, minutes: 60, hours: 3600, days: 86400 };

export type Unit = keyof typeof UNITS;

/** What a person has put into the create form. */
export interface IDraft {
  readonly prompt: string;
  readonly kind: 'after' | 'at' | 'every';
  readonly amount: string;
  readonly unit: Unit;
  /** `YYYY-MM-DD`, as the browser's date field gives it. */
  readonly date: string;
  /** `HH:MM` or `HH:MM:SS`. */
  readonly time: string;
  /** Null: the zone the browser is in when the form is sent. */
  readonly zone: string | null;
}

/** The fields of the form that can be wrong. */
export type Field = 'prompt' | 'amount' | 'when' | 'zone';

/** The form as it opens. */
export const EMPTY: IDraft = {
  prompt: '',
  kind: 'after',
  amount: '20',
  unit: 'minutes',
  date: '',
  time: '',
  zone: null
};

/**
 * The arguments of `schedule_create` for a draft, or the field that is not filled in.
 *
 * Nothing else is judged here: the server has the rules and the zone data, and its refusal is
 * shown at the field it is about.
 */
export function toArguments(
  draft: IDraft,
  browserZone: string
): JSONObject | Field {
  const { prompt, kind, date, time } = draft;
  if (prompt.trim() === '') {
    return 'prompt';
  }
  if (kind === 'at') {
    const time_zone = draft.zone ?? browserZone;
    return date === '' || time === ''
      ? 'when'
      : { prompt, at: { date, time, time_zone } };
  }
  if (!/^\d+$/.test(draft.amount.trim())) {
    return 'amount';
  }
  const seconds = Number(draft.amount) * UNITS[draft.unit];
  return kind === 'after'
    ? { prompt, after_seconds: seconds }
    : { prompt, every_seconds: seconds };
}

/** The field that a refusal of the server is about; null for one about the form as a whole. */
export function fieldOf(code: string, kind: IDraft['kind']): Field | null {
  switch (code) {
    case 'invalid_prompt':
      return 'prompt';
    case 'invalid_time_zone':
      return 'zone';
    case 'frequency_too_high':
    case 'invalid_rule':
    case 'not_future':
    case 'time_out_of_range':
      return kind === 'at' ? 'when' : 'amount';
    default:
      return null;
  }
}
