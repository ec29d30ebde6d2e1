import type { TranslationBundle } from '@jupyterlab/translation';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Milliseconds of an RFC 3339 instant. */
export function toEpoch(instant: string): number {
  return new Date(instant).getTime();
}

/** Date, time and zone as a person in `zone` reads them, with the year. */
export function inZone(instant: string, zone: string): string {
  return new Intl.DateTimeFormat(undefined, {
    weekday: 'short',
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZone: zone,
    timeZoneName: 'short'
  }).format(toEpoch(instant));
}

/** The same instant in UTC, with the year. */
export function inUtc(instant: string): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 19)} UTC`;
}

/** Hours and minutes for today in `zone`, else the date as well. */
export function shortly(instant: string, zone: string, now: number): string {
  const day = (moment: number) =>
    new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit'
    }).format(moment);
  const time = new Intl.DateTimeFormat(undefined, {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23'
  }).format(toEpoch(instant));
  const date = day(toEpoch(instant));
  return date === day(now) ? time : `${date} ${time}`;
}

/** A length of time in its two largest units. */
export function duration(
  milliseconds: number,
  trans: TranslationBundle
): string {
  const parts = [
    [Math.floor(milliseconds / DAY), '%1 d'],
    [Math.floor((milliseconds % DAY) / HOUR), '%1 h'],
    [Math.floor((milliseconds % HOUR) / MINUTE), '%1 min'],
    [Math.floor((milliseconds % MINUTE) / SECOND), '%1 s']
  ] as const;
  const first = parts.findIndex(([amount]) => amount > 0);
  const unit = (amount: number, name: (typeof parts)[number][1]) => {
    switch (name) {
      case '%1 d':
        return trans.__('%1 d', amount);
      case '%1 h':
        return trans.__('%1 h', amount);
      case '%1 min':
        return trans.__('%1 min', amount);
      case '%1 s':
        return trans.__('%1 s', amount);
    }
  };
  return first < 0
    ? trans.__('%1 s', 0)
    : parts
        .slice(first, first + 2)
        .filter(([amount]) => amount > 0)
        .map(([amount, name]) => unit(amount, name))
        .join(' ');
}

/** How long until an instant, or how late it is. */
export function untilOrSince(
  instant: string,
  now: number,
  trans: TranslationBundle
): string {
  const wait = toEpoch(instant) - now;
  return wait > 0
    ? trans.__('in %1', duration(wait, trans))
    : trans.__('due %1 ago', duration(-wait, trans));
}
