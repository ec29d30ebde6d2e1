import { Token } from '@lumino/coreutils';

import type { Presence } from './presence';
import type { Requests } from './requests';
import type { TabSocket } from './socket';
import type { ILiveNotebooks } from './zone';

/** What this tab says to the server and hears from it. */
export interface ITab extends ILiveNotebooks {
  readonly socket: TabSocket;
  readonly presence: Presence;
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
