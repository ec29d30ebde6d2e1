import {
  deleteIcon,
  refreshIcon,
  addBelowIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';

import { ILostAnswer, lostAnswers } from '../answers';
import { placeOutputs } from '../place';
import { IFollowupView, INotebookView, isQueued } from '../views';
import { IconButton, Refusal, useActing } from './action';
import { useSchedules } from './environment';
import { Prompt } from './reminder';

/** How many turns back lost answers are looked for. */
const TURNS = 50;

/** The follow-up that is on its way: it can be dropped until the agent has it. */
export function Current(props: {
  path: string;
  followup: IFollowupView;
}): React.JSX.Element {
  const { schedules, trans } = useSchedules();
  const acting = useActing();
  const { path, followup } = props;
  const { id } = followup;
  const queued = isQueued(followup);
  return (
    <li className="jp-Schedule-item" data-id={id}>
      <div className="jp-Schedule-head">
        <span className="jp-Schedule-due">
          {queued
            ? trans.__('%1 is queued', id)
            : trans.__('%1 is at work', id)}
        </span>
        <span className="jp-Schedule-spring" />
        {queued && (
          <IconButton
            icon={deleteIcon}
            label={trans.__('Drop %1', id)}
            confirm={trans.__('Drop?')}
            isBusy={acting.isBusy}
            onClick={() => {
              acting.start(() => schedules.act(path, 'drop', { id }));
            }}
          />
        )}
      </div>
      <Prompt text={followup.text} />
      <Refusal text={acting.error} />
    </li>
  );
}

/** A follow-up that did not come to a good end. */
export function Unfinished(props: {
  path: string;
  isLive: boolean;
  followup: IFollowupView;
}): React.JSX.Element {
  const { schedules, trans } = useSchedules();
  const acting = useActing();
  const { path, followup, isLive } = props;
  const { id, outcome } = followup;
  return (
    <li className="jp-Schedule-item" data-id={id}>
      <div className="jp-Schedule-head">
        <span className="jp-Schedule-due">
          {trans.__('%1: %2', id, outcome ?? '')}
        </span>
        <span className="jp-Schedule-spring" />
        {isLive && (
          <IconButton
            icon={refreshIcon}
            label={trans.__('Retry %1', id)}
            isBusy={acting.isBusy}
            onClick={() => {
              acting.start(() => schedules.act(path, 'retry', { id }));
            }}
          />
        )}
      </div>
      <Prompt text={followup.text} />
      <Refusal text={acting.error} />
    </li>
  );
}

/** Answers that the log has and the notebook has not; a person can put them back. */
export function LostAnswers(props: {
  path: string;
  view: INotebookView;
}): React.JSX.Element | null {
  const { schedules, trans } = useSchedules();
  const { path, view } = props;
  const [lost, setLost] = React.useState<readonly ILostAnswer[]>([]);
  const [round, setRound] = React.useState(0);
  const acting = useActing();
  const { session_id, turns } = view;
  React.useEffect(() => {
    let isCurrent = true;
    const look = async () => {
      const found = turns ? await schedules.api.turns(path, TURNS) : [];
      const notebook = schedules.panel(path)?.context.model.sharedModel;
      if (isCurrent && notebook && session_id !== null) {
        setLost(lostAnswers(found, notebook, session_id));
      }
    };
    look().catch(() => {
      // The notebook's own view says what is wrong with its log.
      setLost([]);
    });
    return () => {
      isCurrent = false;
    };
  }, [path, session_id, turns, round]);
  if (lost.length === 0) {
    return null;
  }
  const put = ({ cell }: ILostAnswer) => {
    const notebook = schedules.panel(path)?.context.model.sharedModel;
    if (notebook) {
      placeOutputs(notebook, cell);
    }
    setRound(round + 1);
  };
  return (
    <details className="jp-Schedule-lost">
      <summary>
        {trans._n(
          '%1 recorded answer has no cell here',
          '%1 recorded answers have no cell here',
          lost.length
        )}
      </summary>
      <ul>
        {lost.map(answer => (
          <li key={answer.followupId} className="jp-Schedule-head">
            <span>{trans.__('%1: %2', answer.followupId, answer.outcome)}</span>
            <span className="jp-Schedule-spring" />
            <IconButton
              icon={addBelowIcon}
              label={trans.__(
                'Insert the recorded answer of %1',
                answer.followupId
              )}
              isBusy={acting.isBusy}
              onClick={() => {
                put(answer);
              }}
            />
          </li>
        ))}
      </ul>
    </details>
  );
}
