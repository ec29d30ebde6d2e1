import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import * as React from 'react';

import { scheduleIcon } from './icon';
import type { Schedules } from './schedules';
import { statusText } from './summary';
import { sampleZone } from './zone';

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
