import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import { scheduleIcon } from '../icon';
import { toEpoch } from '../moments';
import type { Schedules } from '../schedules';
import { isProblem, SessionView } from '../views';
import { sampleZone } from '../zone';
import { Environment } from './environment';
import { NotebookSection } from './notebook';

/** Milliseconds between two renderings of the times, while the panel is seen. */
const TICK = 1000;

/** How often something due is looked at again: what it waits for changes by itself. */
const TICKS_PER_LOOK = 3;

/** The side panel: what waits in the open notebooks, and what a person can do about it. */
export class SchedulePanel extends ReactWidget {
  constructor(schedules: Schedules, trans: TranslationBundle) {
    super();
    this._schedules = schedules;
    this._trans = trans;
    this.id = 'jupyter-schedule-panel';
    this.addClass('jp-Schedule');
    this.title.icon = scheduleIcon;
    this.title.caption = trans.__('Reminders');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Reminders'));
  }

  protected render(): React.JSX.Element {
    return (
      <UseSignal signal={this._schedules.changed}>
        {() => this._content()}
      </UseSignal>
    );
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._start();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      this._start();
    }
  }

  protected override onBeforeHide(message: Message): void {
    this._stop();
    super.onBeforeHide(message);
  }

  protected override onBeforeDetach(message: Message): void {
    this._stop();
    super.onBeforeDetach(message);
  }

  private _content(): React.JSX.Element {
    const { mismatch, paths, current } = this._schedules;
    const trans = this._trans;
    const environment = {
      schedules: this._schedules,
      trans,
      now: Date.now(),
      zone: sampleZone() ?? 'UTC'
    };
    return (
      <Environment.Provider value={environment}>
        <h2 className="jp-Schedule-title">{trans.__('Reminders')}</h2>
        {mismatch !== null && (
          <p className="jp-Schedule-error" role="alert">
            {mismatch}
          </p>
        )}
        {paths.length === 0 && (
          <p className="jp-Schedule-hint">
            {trans.__('Open a notebook to see its reminders.')}
          </p>
        )}
        {paths.map(path => (
          <NotebookSection
            key={path}
            path={path}
            isCurrent={path === current}
          />
        ))}
      </Environment.Provider>
    );
  }

  private _start(): void {
    this._stop();
    let ticks = 0;
    this.update();
    this._timer = window.setInterval(() => {
      ticks += 1;
      if (ticks % TICKS_PER_LOOK === 0) {
        this._lookAgain();
      }
      this.update();
    }, TICK);
  }

  private _stop(): void {
    window.clearInterval(this._timer);
  }

  private _lookAgain(): void {
    const now = Date.now();
    for (const path of this._schedules.paths) {
      const { view, error } = this._schedules.entry(path);
      if (error !== null || (view !== null && isMoving(view, now))) {
        void this._schedules.read(path);
      }
    }
  }

  private readonly _schedules: Schedules;
  private readonly _trans: TranslationBundle;
  private _timer = 0;
}

/** Whether something is due or on its way in a live session. */
function isMoving(view: SessionView, now: number): boolean {
  return (
    !isProblem(view) &&
    view.live &&
    (Boolean(view.followup) ||
      view.reminders.some(({ scheduled_at }) => toEpoch(scheduled_at) <= now))
  );
}
