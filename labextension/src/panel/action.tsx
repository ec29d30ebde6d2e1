import type { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { useSchedules } from './environment';

/** Something a person asked for, while it is under way and after it was refused. */
export interface IActing {
  readonly isBusy: boolean;
  readonly error: string | null;
  readonly start: (act: () => Promise<unknown>) => void;
}

/** Run one action at a time, and keep the sentence of a refusal to be shown beside it. */
export function useActing(): IActing {
  const [isBusy, setBusy] = React.useState(false);
  const [error, setError] = React.useState<string | null>(null);
  const start = (act: () => Promise<unknown>) => {
    setBusy(true);
    setError(null);
    act()
      .catch((reason: unknown) => {
        setError((reason as Error).message);
      })
      .finally(() => {
        setBusy(false);
      });
  };
  return { isBusy, error, start };
}

/** The sentence of a refusal. */
export function Refusal(props: {
  text: string | null;
}): React.JSX.Element | null {
  return props.text === null ? null : (
    <p className="jp-Schedule-error" role="alert">
      {props.text}
    </p>
  );
}

/** A small button with an icon; one that cannot be undone asks once more, in its own place. */
export function IconButton(props: {
  icon: LabIcon;
  label: string;
  isBusy: boolean;
  confirm?: string;
  onClick: () => void;
}): React.JSX.Element {
  const [isAsking, setAsking] = React.useState(false);
  const onClick = () => {
    if (props.confirm !== undefined && !isAsking) {
      setAsking(true);
    } else {
      setAsking(false);
      props.onClick();
    }
  };
  return (
    <button
      className={`jp-Schedule-button ${isAsking ? 'jp-mod-asking' : ''}`}
      title={props.label}
      aria-label={isAsking ? props.confirm : props.label}
      disabled={props.isBusy}
      onClick={onClick}
      onBlur={() => {
        setAsking(false);
      }}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          setAsking(false);
        }
      }}
    >
      {isAsking ? (
        props.confirm
      ) : (
        <props.icon.react tag="span" className="jp-Schedule-icon" />
      )}
    </button>
  );
}

/** A button with a word, for what a person does rarely. */
export function TextButton(props: {
  label: string;
  isBusy: boolean;
  isAccented?: boolean;
  onClick: () => void;
}): React.JSX.Element {
  const accent = props.isAccented ? 'jp-mod-accept' : '';
  return (
    <button
      type="button"
      className={`jp-mod-styled jp-mod-small ${accent}`}
      disabled={props.isBusy}
      onClick={props.onClick}
    >
      {props.label}
    </button>
  );
}

/** A button with a word that does something about a log. */
export function ActionButton(props: {
  path: string;
  label: string;
  acting: IActing;
  action: 'adopt' | 'fresh';
  id?: string;
}): React.JSX.Element {
  const { schedules } = useSchedules();
  const { path, action, id, acting, label } = props;
  return (
    <TextButton
      label={label}
      isBusy={acting.isBusy}
      onClick={() => {
        const options = id === undefined ? {} : { id };
        acting.start(() => schedules.act(path, action, options));
      }}
    />
  );
}
