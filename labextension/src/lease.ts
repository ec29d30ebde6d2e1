/**
 * How old a granted lease is (contract 5.5, 5.6).
 *
 * A tab that was frozen gets its messages late, and its clock cannot be compared with the
 * server's. Distances can: both sides measure the time since the question that the grant answers.
 */

/** One moment on the two clocks of a page, in milliseconds. */
export interface IMoment {
  /** Never set back, but it may stand still while a computer sleeps. */
  readonly monotonic: number;
  /** Goes on during sleep, but a person can set it. */
  readonly wall: number;
}

export function now(): IMoment {
  return { monotonic: performance.now(), wall: Date.now() };
}

/** Milliseconds from one moment to another; the clock that saw more time pass is believed. */
export function distance(from: IMoment, to: IMoment): number {
  return Math.max(to.monotonic - from.monotonic, to.wall - from.wall);
}

/** What a grant says about its own time, in milliseconds. */
export interface ILeaseTimes {
  readonly since_ask_ms: number;
  readonly margin_ms: number;
  readonly lease_ms: number;
}

/** The most that the lease can have aged, in milliseconds. */
export function age(times: ILeaseTimes, asked: IMoment, at: IMoment): number {
  return distance(asked, at) - times.since_ask_ms + times.margin_ms;
}

/** Whether a cell may still be inserted; at its very end a lease is over. */
export function isAlive(
  times: ILeaseTimes,
  asked: IMoment,
  at: IMoment
): boolean {
  return age(times, asked, at) < times.lease_ms;
}
