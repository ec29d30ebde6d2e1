import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { pauseIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { reasonText } from '../reasons';
import { soonestFirst } from '../summary';
import { INotebookView, isProblem, waitingCount } from '../views';
import { IconButton, Refusal, TextButton, useActing } from './action';
import { CreateForm } from './create';
import { useSchedules } from './environment';
import { Current, LostAnswers, Unfinished } from './followups';
import { Orphans, Problem } from './problem';
import { Reminder } from './reminder';

/** One open notebook. */
export function NotebookSection(props: {
  path: string;
  isCurrent: boolean;
}): React.JSX.Element {
  const { schedules, trans } = useSchedules();
  const { path, isCurrent } = props;
  const [isOpen, setOpen] = React.useState(isCurrent);
  React.useEffect(() => {
    setOpen(isCurrent);
  }, [isCurrent]);
  const { view, error } = schedules.entry(path);
  return (
    <details
      className="jp-Schedule-notebook"
      data-path={path}
      open={isOpen}
      onToggle={event => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary title={path}>
        <span className="jp-Schedule-name">{PathExt.basename(path)}</span>
        {view !== null && !isProblem(view) && view.session_id !== null && (
          <span className="jp-Schedule-count">
            {view.live
              ? trans._n('%1 reminder', '%1 reminders', view.reminders.length)
              : trans._n(
                  '%1 reminder, not attached',
                  '%1 reminders, not attached',
                  view.reminders.length
                )}
          </span>
        )}
      </summary>
      {error !== null && (
        <p className="jp-Schedule-error" role="alert">
          {trans.__('The reminders could not be read: %1', error)}
        </p>
      )}
      {view === null && error === null && (
        <p className="jp-Schedule-hint">{trans.__('Reading…')}</p>
      )}
      {view !== null &&
        (isProblem(view) ? (
          <Problem path={path} problem={view} />
        ) : view.session_id === null ? (
          <Nobody path={path} />
        ) : (
          <Session path={path} view={view} />
        ))}
    </details>
  );
}

/** A session that can be read: live or cold. */
function Session(props: {
  path: string;
  view: INotebookView;
}): React.JSX.Element {
  const { trans } = useSchedules();
  const { path, view } = props;
  const { live, followup, unfinished = [], reminders } = view;
  return (
    <>
      <State path={path} view={view} />
      {view.recovered && <p className="jp-Schedule-hint">{view.recovered}</p>}
      <ul className="jp-Schedule-list" aria-label={trans.__('Reminders')}>
        {followup && <Current path={path} followup={followup} />}
        {soonestFirst(reminders).map(reminder => (
          <Reminder
            key={reminder.id}
            path={path}
            isLive={live}
            reminder={reminder}
          />
        ))}
        {unfinished.map(one => (
          <Unfinished key={one.id} path={path} isLive={live} followup={one} />
        ))}
      </ul>
      {waitingCount(view) === 0 && (
        <p className="jp-Schedule-hint">{trans.__('Nothing waits.')}</p>
      )}
      <LostAnswers path={path} view={view} />
      {live && (
        <details className="jp-Schedule-new">
          <summary>{trans.__('New reminder')}</summary>
          <CreateForm path={path} />
        </details>
      )}
    </>
  );
}

/** What a person can do about a session as a whole. */
type Way = 'attach' | 'unpause' | 'go_on';

/** Whether the session is attached or paused, why something due waits, and what to do about it. */
function State(props: {
  path: string;
  view: INotebookView;
}): React.JSX.Element {
  const { schedules, trans } = useSchedules();
  const acting = useActing();
  const { path, view } = props;
  const { reason, why, paused, live } = view;
  const labels: Record<Way, string> = {
    attach: trans.__('Attach'),
    unpause: trans.__('Go on'),
    go_on: trans.__('Deliver all the same')
  };
  const ways: readonly (readonly [Way, boolean])[] = [
    ['attach', !live],
    ['unpause', Boolean(paused)],
    ['go_on', reason === 'front_end_unreachable']
  ];
  return (
    <div className="jp-Schedule-row">
      <p title={why ?? ''} role="status">
        {stateText(view, trans)}
      </p>
      {ways
        .filter(([, isOffered]) => isOffered)
        .map(([way]) => (
          <TextButton
            key={way}
            label={labels[way]}
            isAccented={way === 'attach'}
            isBusy={acting.isBusy}
            onClick={() => {
              acting.start(() => schedules.act(path, way));
            }}
          />
        ))}
      {!paused && (
        <IconButton
          icon={pauseIcon}
          label={trans.__('Pause this notebook')}
          isBusy={acting.isBusy}
          onClick={() => {
            acting.start(() => schedules.act(path, 'pause'));
          }}
        />
      )}
      <Refusal text={acting.error} />
    </div>
  );
}

function stateText(
  { live, paused, reason, why }: INotebookView,
  trans: TranslationBundle
): string {
  if (paused === 'person') {
    return trans.__('Paused: what is due waits.');
  }
  if (paused) {
    return reasonText(paused, trans) ?? paused;
  }
  if (!live) {
    return trans.__('Not attached: what is due waits.');
  }
  return reason === null
    ? trans.__('Attached: what is due comes when the kernel is idle.')
    : (reasonText(reason, trans) ?? why ?? reason);
}

/** A notebook without a session. */
function Nobody(props: { path: string }): React.JSX.Element {
  const { trans } = useSchedules();
  return (
    <>
      <p className="jp-Schedule-hint">
        {trans.__(
          'No agent is attached to this notebook. Run %load_ext jupyter_schedule in a cell.'
        )}
      </p>
      <Orphans path={props.path} />
    </>
  );
}
