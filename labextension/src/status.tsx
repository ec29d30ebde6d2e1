import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import * as React from 'react';

import { scheduleIcon } from './icon';
import { shortly } from './moments';
import type { Schedules } from './schedules';
import { INotebookView, isProblem, isQueued, SessionView } from './views';
import { sampleZone } from './zone';

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

/** The item in the status bar, for the notebook a person looks at. */
export class StatusItem extends ReactWidget {
  constructor(options: IStatusItemOptions) {
    super();
    this._options = options;
    this.addClass('jp-mod-highlighted');
  }

  protected render(): React.JSX.Element {
    return (
      <UseSignal signal={this._options.schedules.changed}>
        {() => this._content()}
      </UseSignal>
    );
  }

  private _content(): React.JSX.Element | null {
    const { schedules, trans, isWanted, open } = this._options;
    const path = schedules.current;
    const text =
      path === null || !isWanted()
        ? null
        : statusText(
            schedules.entry(path).view,
            trans,
            sampleZone() ?? 'UTC',
            Date.now()
          );
    return text === null ? null : (
      <button
        className="jp-Schedule-status"
        title={trans.__('Show the reminders')}
        onClick={open}
      >
        <scheduleIcon.react tag="span" className="jp-Schedule-icon" />
        {text}
      </button>
    );
  }

  private readonly _options: IStatusItemOptions;
}

export interface IStatusItemOptions {
  readonly schedules: Schedules;
  readonly trans: TranslationBundle;
  readonly isWanted: () => boolean;
  /** Show the panel. */
  readonly open: () => void;
}
