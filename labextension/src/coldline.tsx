import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon, ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { Schedules } from './schedules';
import { isProblem, SessionView, waitingCount } from './views';

/** How many reminders of a session that is not live wait for it. */
export function waitingCold(view: SessionView | null): number {
  return view === null || isProblem(view) || view.live ? 0 : waitingCount(view);
}

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
  }

  protected render(): React.JSX.Element {
    return (
      <UseSignal signal={this._options.schedules.changed}>
        {() => <Line {...this._options} />}
      </UseSignal>
    );
  }

  private readonly _options: IColdLineOptions;
}

export interface IColdLineOptions {
  readonly schedules: Schedules;
  readonly trans: TranslationBundle;
  readonly panel: NotebookPanel;
  readonly isWanted: () => boolean;
}

function Line(props: IColdLineOptions): React.JSX.Element | null {
  const { schedules, trans, panel } = props;
  const [isClosed, setClosed] = React.useState(false);
  const [error, setError] = React.useState<string | null>(null);
  const [isBusy, setBusy] = React.useState(false);
  const path = panel.context.localPath;
  const waiting = waitingCold(schedules.entry(path).view);
  React.useEffect(() => {
    if (waiting === 0) {
      setClosed(false);
      setError(null);
    }
  }, [waiting]);
  if (waiting === 0 || isClosed || !props.isWanted()) {
    return null;
  }
  const attach = async () => {
    setBusy(true);
    try {
      await schedules.act(path, 'attach');
    } catch (reason) {
      setError((reason as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="jp-Schedule-line" role="status">
      <span>
        {error ??
          trans._n(
            '%1 reminder waits until an agent is attached to this notebook.',
            '%1 reminders wait until an agent is attached to this notebook.',
            waiting
          )}
      </span>
      <button
        className="jp-mod-styled jp-mod-small"
        disabled={isBusy}
        onClick={() => {
          void attach();
        }}
      >
        {trans.__('Attach')}
      </button>
      <button
        className="jp-Schedule-button"
        title={trans.__('Hide this line')}
        aria-label={trans.__('Hide this line')}
        onClick={() => {
          setClosed(true);
        }}
      >
        <closeIcon.react tag="span" className="jp-Schedule-icon" />
      </button>
    </div>
  );
}
