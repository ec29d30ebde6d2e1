import { Token } from '@lumino/coreutils';

import type { Preferences } from './preferences';
import type { Presence } from './presence';
import type { Requests } from './requests';
import type { Schedules } from './schedules';
import type { TabSocket } from './socket';
import type { ILiveNotebooks } from './zone';

/** What this tab says to the server and hears from it. */
export interface ITab extends ILiveNotebooks {
  readonly socket: TabSocket;
  readonly presence: Presence;
  /** Whether a carrier answers what the server asks; without one, this tab says that it is busy. */
  hasCarrier: boolean;
}

export const ITab = new Token<ITab>(
  'jupyter-schedule:ITab',
  "This tab's connection to the server half of jupyter-schedule."
);

export type IRequests = Requests;

export const IRequests = new Token<IRequests>(
  'jupyter-schedule:IRequests',
  "Adds to the metadata of notebooks' execute requests."
);

export type ISchedules = Schedules;

export const ISchedules = new Token<ISchedules>(
  'jupyter-schedule:ISchedules',
  'What waits in the open notebooks, and what a person can do about it.'
);

export type IPreferences = Preferences;

export const IPreferences = new Token<IPreferences>(
  'jupyter-schedule:IPreferences',
  'What a person has switched off.'
);
