import { UUID } from '@lumino/coreutils';
import * as React from 'react';

import { RefusedError } from '../api';
import { EMPTY, Field, fieldOf, IDraft, toArguments, Unit } from '../draft';
import { duration } from '../moments';
import { Refusal, TextButton } from './action';
import { useSchedules } from './environment';

interface IFault {
  /** Null: the form as a whole. */
  readonly field: Field | null;
  readonly text: string;
}

/** The form for a new reminder. What the server refuses is shown at the field it is about. */
export function CreateForm(props: { path: string }): React.JSX.Element {
  const { schedules, trans, zone } = useSchedules();
  const [draft, setDraft] = React.useState<IDraft>(EMPTY);
  const [fault, setFault] = React.useState<IFault | null>(null);
  const [isBusy, setBusy] = React.useState(false);
  // One key for one draft: an answer that was lost does not make a second reminder.
  const key = React.useRef(UUID.uuid4());
  const name = React.useId();
  const change = (part: Partial<IDraft>) => {
    key.current = UUID.uuid4();
    setFault(null);
    setDraft({ ...draft, ...part });
  };
  const missing: Record<Field, string> = {
    prompt: trans.__('Say what the agent shall look at.'),
    amount: trans.__('A whole number is needed.'),
    when: trans.__('Date and time are needed.'),
    zone: trans.__('A time zone is needed.')
  };
  const send = async () => {
    const given = toArguments(draft, zone);
    if (typeof given === 'string') {
      setFault({ field: given, text: missing[given] });
      return;
    }
    setBusy(true);
    try {
      await schedules.act(props.path, 'create', {
        arguments: given,
        key: key.current
      });
      key.current = UUID.uuid4();
      setFault(null);
      setDraft({ ...draft, prompt: '' });
    } catch (error) {
      const code = error instanceof RefusedError ? error.code : '';
      const field = fieldOf(code, draft.kind);
      setFault({ field, text: (error as Error).message });
    } finally {
      setBusy(false);
    }
  };
  const faultOf = (field: Field | null) =>
    fault?.field === field ? fault.text : null;
  const marks = (field: Field) => ({
    id: `${name}-${field}`,
    'aria-invalid': faultOf(field) !== null
  });
  const kinds: readonly (readonly [IDraft['kind'], string])[] = [
    ['after', trans.__('In')],
    ['at', trans.__('At')],
    ...(schedules.limits?.fixed_rate === false
      ? []
      : [['every', trans.__('Every')] as const])
  ];
  const floor = schedules.limits?.min_every_seconds ?? 300;
  return (
    <form
      className="jp-Schedule-form"
      noValidate
      onSubmit={event => {
        event.preventDefault();
        void send();
      }}
    >
      <label htmlFor={`${name}-prompt`}>
        {trans.__('What shall the agent look at?')}
      </label>
      <textarea
        {...marks('prompt')}
        className="jp-mod-styled"
        rows={3}
        value={draft.prompt}
        onChange={event => {
          change({ prompt: event.target.value });
        }}
      />
      <Refusal text={faultOf('prompt')} />
      <fieldset className="jp-Schedule-kinds">
        <legend>{trans.__('When')}</legend>
        {kinds.map(([kind, label]) => (
          <label key={kind}>
            <input
              type="radio"
              name={`${name}-kind`}
              checked={draft.kind === kind}
              onChange={() => {
                change({ kind });
              }}
            />
            {label}
          </label>
        ))}
      </fieldset>
      {draft.kind === 'at' ? (
        <>
          <div className="jp-Schedule-fields" {...marks('when')}>
            <input
              className="jp-mod-styled"
              type="date"
              aria-label={trans.__('Date')}
              value={draft.date}
              onChange={event => {
                change({ date: event.target.value });
              }}
            />
            <input
              className="jp-mod-styled"
              type="time"
              step={1}
              aria-label={trans.__('Time')}
              value={draft.time}
              onChange={event => {
                change({ time: event.target.value });
              }}
            />
          </div>
          <Refusal text={faultOf('when')} />
          <label htmlFor={`${name}-zone`}>{trans.__('Time zone')}</label>
          <input
            {...marks('zone')}
            className="jp-mod-styled"
            type="text"
            spellCheck={false}
            list={`${name}-zones`}
            value={draft.zone ?? zone}
            onChange={event => {
              change({ zone: event.target.value });
            }}
          />
          <datalist id={`${name}-zones`}>
            {zoneNames().map(one => (
              <option key={one} value={one} />
            ))}
          </datalist>
          <Refusal text={faultOf('zone')} />
        </>
      ) : (
        <>
          <div className="jp-Schedule-fields">
            <input
              {...marks('amount')}
              className="jp-mod-styled"
              type="text"
              inputMode="numeric"
              aria-label={trans.__('How many')}
              value={draft.amount}
              onChange={event => {
                change({ amount: event.target.value });
              }}
            />
            <select
              className="jp-mod-styled"
              aria-label={trans.__('Unit')}
              value={draft.unit}
              onChange={event => {
                change({ unit: event.target.value as Unit });
              }}
            >
              <option value="seconds">{trans.__('seconds')}</option>
              <option value="minutes">{trans.__('minutes')}</option>
              <option value="hours">{trans.__('hours')}</option>
              <option value="days">{trans.__('days')}</option>
            </select>
          </div>
          {draft.kind === 'every' && (
            <p className="jp-Schedule-hint">
              {trans.__('At least %1.', duration(floor * 1000, trans))}
            </p>
          )}
          <Refusal text={faultOf('amount')} />
        </>
      )}
      <Refusal text={faultOf(null)} />
      <TextButton
        label={trans.__('Remind')}
        isAccented
        isBusy={isBusy}
        onClick={() => {
          void send();
        }}
      />
    </form>
  );
}

/** The names that the browser offers; the server knows them all, and the older ones as well. */
function zoneNames(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}
