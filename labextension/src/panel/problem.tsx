import * as React from 'react';

import type { IProblemView } from '../views';
import { ActionButton, Refusal, useActing } from './action';
import { useSchedules } from './environment';

/** A log that cannot be used as it is: what is wrong, where, and what a person can do. */
export function Problem(props: {
  path: string;
  problem: IProblemView;
}): React.JSX.Element {
  const { trans } = useSchedules();
  const acting = useActing();
  const { path, problem } = props;
  const { code, message, file, line } = problem;
  return (
    <div className="jp-Schedule-problem" role="alert">
      <p>{message}</p>
      {file !== undefined && (
        <p className="jp-Schedule-file">
          {line === undefined ? file : trans.__('%1, line %2', file, line)}
        </p>
      )}
      {code === 'foreign_log' && (
        <ActionButton
          path={path}
          action="adopt"
          label={trans.__('Adopt this log')}
          acting={acting}
        />
      )}
      {['foreign_log', 'corrupt_schedule_log'].includes(code) && (
        <ActionButton
          path={path}
          action="fresh"
          label={trans.__('Put it away and start afresh')}
          acting={acting}
        />
      )}
      <Refusal text={acting.error} />
    </div>
  );
}

/** Logs of the folder whose notebook is gone; for a notebook that has none of its own. */
export function Orphans(props: { path: string }): React.JSX.Element | null {
  const { schedules, trans } = useSchedules();
  const acting = useActing();
  const [names, setNames] = React.useState<readonly string[]>([]);
  const { path } = props;
  React.useEffect(() => {
    const folder = path.includes('/') ? path.replace(/\/[^/]*$/, '') : '';
    schedules.api.orphans(folder).then(setNames, () => {
      // A folder that cannot be listed has nothing to adopt; the notebook's view says more.
      setNames([]);
    });
  }, [path]);
  return names.length === 0 ? null : (
    <div className="jp-Schedule-orphans">
      <p>{trans.__('Logs of this folder whose notebook is gone:')}</p>
      <ul>
        {names.map(name => (
          <li key={name} className="jp-Schedule-head">
            <span className="jp-Schedule-file">{name}</span>
            <span className="jp-Schedule-spring" />
            <ActionButton
              path={path}
              action="adopt"
              id={name}
              label={trans.__('Adopt')}
              acting={acting}
            />
          </li>
        ))}
      </ul>
      <Refusal text={acting.error} />
    </div>
  );
}
