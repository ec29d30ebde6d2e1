import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon, ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import { IconButton, TextButton, useActing } from './panel/action';
import type { Schedules } from './schedules';
import { waitingCold } from './summary';

/**
 * The one visible line of a session that is cold while reminders wait (contract 6.1).
 *
 * Opening a notebook is not attaching; this line says so, and one click attaches.
 */
export class ColdLine extends ReactWidget {
  constructor(options: IColdLineOptions) {
    super();
    this._options = options;
    this.addClass('jp-Schedule-coldline');
    options.schedules.changed.connect(this.refresh, this);
    this.refresh();
  }

  /** Show or hide the line, as the session and the person's settings have it. */
  refresh(): void {
    const { schedules, panel, isWanted } = this._options;
    this._waiting = waitingCold(schedules.entry(panel.context.localPath).view);
    if (this._waiting === 0) {
      this._isClosed = false;
    }
    this.setHidden(this._waiting === 0 || this._isClosed || !isWanted());
    this.update();
  }

  protected render(): React.JSX.Element {
    const { schedules, panel, trans } = this._options;
    return (
      <Line
        trans={trans}
        waiting={this._waiting}
        attach={() => schedules.act(panel.context.localPath, 'attach')}
        close={() => {
          this._isClosed = true;
          this.refresh();
        }}
      />
    );
  }

  private readonly _options: IColdLineOptions;
  private _waiting = 0;
  private _isClosed = false;
}

export interface IColdLineOptions {
  readonly schedules: Schedules;
  readonly trans: TranslationBundle;
  readonly panel: NotebookPanel;
  readonly isWanted: () => boolean;
}

function Line(props: {
  trans: TranslationBundle;
  waiting: number;
  attach: () => Promise<unknown>;
  close: () => void;
}): React.JSX.Element {
  const { trans, waiting } = props;
  const { isBusy, error, start } = useActing();
  const text =
    error ??
    trans._n(
      '%1 reminder waits until an agent is attached to this notebook.',
      '%1 reminders wait until an agent is attached to this notebook.',
      waiting
    );
  return (
    <div className="jp-Schedule-line" role="status">
      <span title={text}>{text}</span>
      <TextButton
        label={trans.__('Attach')}
        isAccented
        isBusy={isBusy}
        onClick={() => {
          start(props.attach);
        }}
      />
      <IconButton
        icon={closeIcon}
        label={trans.__('Hide this line')}
        isBusy={false}
        onClick={props.close}
      />
    </div>
  );
}
