import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { Schedules } from '../schedules';

/** What every part of the panel needs. */
export interface IEnvironment {
  readonly schedules: Schedules;
  readonly trans: TranslationBundle;
  /** Milliseconds of this moment; the panel renders anew when a shown time changes. */
  readonly now: number;
  /** The zone the browser is in. */
  readonly zone: string;
}

export const Environment = React.createContext<IEnvironment | null>(null);

export function useSchedules(): IEnvironment {
  const environment = React.useContext(Environment);
  if (environment === null) {
    throw new Error('this part stands outside the panel');
  }
  return environment;
}
