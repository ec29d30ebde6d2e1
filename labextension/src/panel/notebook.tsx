import { PathExt } from '@jupyterlab/coreutils';
import { pauseIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { reasonText } from '../reasons';
import { INotebookView, isProblem, waitingCount } from '../views';
import { ActionButton, IconButton, Refusal, useActing } from './action';
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
          <Problem problem={view} />
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
      {!live && <Cold path={path} view={view} />}
      <Reason path={path} view={view} />
      {view.recovered && <p className="jp-Schedule-hint">{view.recovered}</p>}
      <ul className="jp-Schedule-list" aria-label={trans.__('Reminders')}>
        {followup && <Current path={path} followup={followup} />}
        {reminders.map(reminder => (
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
      {view.session_id !== null && waitingCount(view) === 0 && (
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

/** A session without an agent: its reminders are kept, and nothing is delivered. */
function Cold(props: { path: string; view: INotebookView }): React.JSX.Element {
  const { trans } = useSchedules();
  const acting = useActing();
  const { path, view } = props;
  if (view.session_id === null) {
    return (
      <>
        <p className="jp-Schedule-hint">
          {trans.__(
            'No agent is attached to this notebook. Run %load_ext jupyter_schedule in a cell.'
          )}
        </p>
        <Orphans path={path} />
      </>
    );
  }
  return (
    <div className="jp-Schedule-row">
      <p>{trans.__('Not attached: what is due waits.')}</p>
      <ActionButton
        path={path}
        action="attach"
        label={trans.__('Attach')}
        isAccented
        acting={acting}
      />
      <Refusal text={acting.error} />
    </div>
  );
}

/** Whether the notebook is paused, and why something due is not delivered. */
function Reason(props: {
  path: string;
  view: INotebookView;
}): React.JSX.Element {
  const { schedules, trans } = useSchedules();
  const acting = useActing();
  const { path, view } = props;
  const { reason, why, paused, live } = view;
  const isShown = reason !== null && reason !== 'paused' && live;
  return (
    <div className="jp-Schedule-row">
      {paused ? (
        <>
          <p>
            {paused === 'person'
              ? trans.__('Paused: what is due waits.')
              : reasonText(paused, trans)}
          </p>
          <ActionButton
            path={path}
            action="unpause"
            label={trans.__('Go on')}
            acting={acting}
          />
        </>
      ) : (
        <p className="jp-Schedule-reason" title={why ?? ''} role="status">
          {isShown && (reasonText(reason, trans) ?? why)}
        </p>
      )}
      {reason === 'front_end_unreachable' && (
        <ActionButton
          path={path}
          action="go_on"
          label={trans.__('Deliver all the same')}
          acting={acting}
        />
      )}
      {!paused && view.session_id !== null && (
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
