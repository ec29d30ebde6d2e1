import type { TranslationBundle } from '@jupyterlab/translation';

import { shortly } from './moments';
import {
  INotebookView,
  IReminderView,
  isProblem,
  isQueued,
  SessionView,
  waitingCount
} from './views';

/** What the status bar says of a notebook; null when there is nothing to say. */
export function statusText(
  view: SessionView | null,
  trans: TranslationBundle,
  zone: string,
  now: number
): string | null {
  if (view === null) {
    return null;
  }
  if (isProblem(view)) {
    return trans.__('Reminders: error');
  }
  const { reminders, next } = view;
  const count = trans._n('%1 reminder', '%1 reminders', reminders.length);
  const parts = [
    reminders.length > 0 ? count : null,
    isQueued(view.followup) ? trans.__('1 queued') : null,
    state(view, trans),
    next ? trans.__('next %1', shortly(next, zone, now)) : null
  ].filter(part => part !== null);
  return reminders.length > 0 || view.followup ? parts.join(' · ') : null;
}

function state(view: INotebookView, trans: TranslationBundle): string | null {
  if (!view.live) {
    return trans.__('not attached');
  }
  return view.paused ? trans.__('paused') : null;
}

/** The reminders of a list, the one that is due first on top. */
export function soonestFirst(
  reminders: readonly IReminderView[]
): IReminderView[] {
  const due = ({ scheduled_at }: IReminderView) => Date.parse(scheduled_at);
  return [...reminders].sort((one, other) => due(one) - due(other));
}

/** How many reminders of a session that is not live wait for it. */
export function waitingCold(view: SessionView | null): number {
  return view === null || isProblem(view) || view.live ? 0 : waitingCount(view);
}
