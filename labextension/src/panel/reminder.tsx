import { deleteIcon, runIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { duration, inUtc, inZone, toEpoch, untilOrSince } from '../moments';
import type { IReminderView } from '../views';
import { IconButton, Refusal, useActing } from './action';
import { useSchedules } from './environment';

/** What somebody wrote, as plain text; a long one is shown in full on demand. */
export function Prompt(props: { text: string }): React.JSX.Element {
  const { trans } = useSchedules();
  const [isFull, setFull] = React.useState(false);
  const isLong = props.text.length > 200 || props.text.split('\n').length > 3;
  return (
    <div className="jp-Schedule-prompt">
      <p className={isLong && !isFull ? 'jp-mod-cut' : ''}>{props.text}</p>
      {isLong && (
        <button
          className="jp-Schedule-link"
          aria-expanded={isFull}
          onClick={() => {
            setFull(!isFull);
          }}
        >
          {isFull ? trans.__('Less') : trans.__('More')}
        </button>
      )}
    </div>
  );
}

/** One reminder that waits, or is due and not delivered yet; its time is shown here and in UTC. */
export function Reminder(props: {
  path: string;
  isLive: boolean;
  reminder: IReminderView;
}): React.JSX.Element {
  const { schedules, trans, now, zone } = useSchedules();
  const acting = useActing();
  const { path, reminder } = props;
  const { id, prompt, scheduled_at, every_seconds } = reminder;
  const isDue = toEpoch(scheduled_at) <= now;
  return (
    <li className="jp-Schedule-item" data-id={id}>
      <div className="jp-Schedule-head">
        <span className={isDue ? 'jp-Schedule-due' : 'jp-Schedule-wait'}>
          {untilOrSince(scheduled_at, now, trans)}
        </span>
        <span className="jp-Schedule-spring" />
        {props.isLive && (
          <IconButton
            icon={runIcon}
            label={trans.__('Run %1 now', id)}
            isBusy={acting.isBusy}
            onClick={() => {
              acting.start(() => schedules.act(path, 'run', { id }));
            }}
          />
        )}
        <IconButton
          icon={deleteIcon}
          label={trans.__('Delete %1', id)}
          confirm={trans.__('Delete?')}
          isBusy={acting.isBusy}
          onClick={() => {
            acting.start(() => schedules.act(path, 'delete', { id }));
          }}
        />
      </div>
      <Prompt text={prompt} />
      <div className="jp-Schedule-instant">
        {every_seconds !== undefined && (
          <span>
            {trans.__('every %1', duration(every_seconds * 1000, trans))}
          </span>
        )}
        <time dateTime={scheduled_at}>{inZone(scheduled_at, zone)}</time>
        <span>{inUtc(scheduled_at)}</span>
      </div>
      <Refusal text={acting.error} />
    </li>
  );
}
