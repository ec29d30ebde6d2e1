import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

import type { ILimits, ITurnView, SessionView } from './views';

/** What a person can do with a notebook's reminders (contract 5.11). */
export type Action =
  | 'adopt'
  | 'attach'
  | 'create'
  | 'delete'
  | 'drop'
  | 'fresh'
  | 'go_on'
  | 'pause'
  | 'retry'
  | 'run'
  | 'unpause';

/** What goes with an action. */
export interface IActionOptions {
  readonly id?: string;
  readonly arguments?: JSONObject;
  /** The same key gets the same answer, also when the first one was lost (contract 2.8). */
  readonly key?: string;
}

/** A refusal: a code of contract 2.3 and one sentence. */
export class RefusedError extends Error {
  constructor(
    readonly code: string,
    message: string
  ) {
    super(message);
  }
}

/** The server's routes for people. */
export class ScheduleApi {
  constructor(settings: ServerConnection.ISettings) {
    this._settings = settings;
  }

  async limits(): Promise<ILimits> {
    const { limits } = (await this._get('status')) as { limits: ILimits };
    return limits;
  }

  async notebook(path: string): Promise<SessionView> {
    return (await this._get('notebook', { path })) as SessionView;
  }

  /** Names of the logs in a folder whose notebook is gone. */
  async orphans(folder: string): Promise<readonly string[]> {
    const found = (await this._get('folder', { path: folder })) as {
      orphans: readonly string[];
    };
    return found.orphans;
  }

  /** The last turns of a notebook, oldest first. */
  async turns(path: string, last: number): Promise<readonly ITurnView[]> {
    const found = (await this._get('history', { path, turns: `${last}` })) as {
      turns: readonly ITurnView[];
    };
    return found.turns;
  }

  /** Carry out one action; throws `RefusedError` when the server refuses. */
  async act(
    path: string,
    action: Action,
    options: IActionOptions = {}
  ): Promise<JSONObject> {
    const body = JSON.stringify({ action, ...options });
    return this._request('action', { path }, { method: 'POST', body });
  }

  private async _get(
    route: string,
    query: Record<string, string> = {}
  ): Promise<unknown> {
    return this._request(route, query, {});
  }

  private async _request(
    route: string,
    query: Record<string, string>,
    init: RequestInit
  ): Promise<JSONObject> {
    const url = URLExt.join(
      this._settings.baseUrl,
      'jupyter-schedule/api',
      route
    );
    const response = await ServerConnection.makeRequest(
      url + URLExt.objectToQueryString(query),
      init,
      this._settings
    );
    const body = (await response.json()) as JSONObject;
    if (!response.ok) {
      const { code, message } = body;
      throw new RefusedError(
        typeof code === 'string' ? code : `http_${response.status}`,
        typeof message === 'string' ? message : response.statusText
      );
    }
    return body;
  }

  private readonly _settings: ServerConnection.ISettings;
}
