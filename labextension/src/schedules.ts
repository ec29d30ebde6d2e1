import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { JSONObject } from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';

import type { Action, IActionOptions, ScheduleApi } from './api';
import type { ServerMessage } from './protocol';
import type { ITab } from './tokens';
import type { ILimits, SessionView } from './views';

/** What this tab knows of one open notebook's session. */
export interface IEntry {
  /** Null until the first answer. */
  readonly view: SessionView | null;
  /** Why the last question had no answer; what was known before may be old then. */
  readonly error: string | null;
}

const UNKNOWN: IEntry = { view: null, error: null };

/**
 * The sessions of the open notebooks, as people are shown them.
 *
 * The server says that something changed, and then it is read; nothing is asked again and again.
 */
export class Schedules {
  constructor(options: ISchedulesOptions) {
    this._tab = options.tab;
    this._api = options.api;
    this._tracker = options.tracker;
    const { socket } = options.tab;
    socket.opened.connect(this._onOpened, this);
    socket.received.connect(this._onMessage, this);
    socket.mismatched.connect(this._emit, this);
    this._tracker.widgetAdded.connect(this._onAdded, this);
    this._tracker.currentChanged.connect(this._emit, this);
    this._tracker.forEach(panel => {
      this._onAdded(this._tracker, panel);
    });
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** One sentence when front end and server do not fit together. */
  get mismatch(): string | null {
    return this._tab.socket.mismatch;
  }

  get limits(): ILimits | null {
    return this._limits;
  }

  /** The notebook a person looks at, or looked at last. */
  get current(): string | null {
    const panel = this._tracker.currentWidget;
    return panel !== null && this._tab.presence.holds(panel)
      ? panel.context.localPath
      : null;
  }

  /** All open notebooks: the current one first, then by path. */
  get paths(): readonly string[] {
    const { current } = this;
    const others = this._tab.presence.paths().filter(path => path !== current);
    return current === null ? others.sort() : [current, ...others.sort()];
  }

  entry(path: string): IEntry {
    return this._entries.get(path) ?? UNKNOWN;
  }

  panel(path: string): NotebookPanel | null {
    return this._tab.presence.findByPath(path);
  }

  get api(): ScheduleApi {
    return this._api;
  }

  /** Do something for a person and read the outcome; throws `RefusedError`. */
  async act(
    path: string,
    action: Action,
    options?: IActionOptions
  ): Promise<JSONObject> {
    try {
      return await this._api.act(path, action, options);
    } finally {
      await this.read(path);
    }
  }

  /** Read one notebook's session. */
  async read(path: string): Promise<void> {
    const turn = (this._turns.get(path) ?? 0) + 1;
    this._turns.set(path, turn);
    const entry = await this._ask(path);
    // A later question has a later answer.
    if (this._turns.get(path) === turn) {
      this._entries.set(path, entry);
      this._emit();
    }
  }

  private async _ask(path: string): Promise<IEntry> {
    try {
      return { view: await this._api.notebook(path), error: null };
    } catch (error) {
      const { message } = error as Error;
      return { view: this.entry(path).view, error: message };
    }
  }

  private _onAdded(_: INotebookTracker, panel: NotebookPanel): void {
    const { context, sessionContext } = panel;
    const read = () => {
      if (this._tab.presence.holds(panel) && this._tab.socket.isOpen) {
        void this.read(context.localPath);
      }
    };
    void context.ready.then(read);
    context.pathChanged.connect(read, this);
    sessionContext.kernelChanged.connect(read, this);
    panel.disposed.connect(this._emit, this);
  }

  private _onOpened(): void {
    for (const path of this._tab.presence.paths()) {
      void this.read(path);
    }
    void this._readLimits();
  }

  private _onMessage(_: unknown, message: ServerMessage): void {
    switch (message.type) {
      case 'changed':
      case 'cold':
        void this.read(message.path);
        break;
      case 'live':
        for (const path of this._tab.presence.paths()) {
          const view = this.entry(path).view;
          if (view !== null && view.live !== message.paths.includes(path)) {
            void this.read(path);
          }
        }
        break;
      default:
        break;
    }
  }

  private async _readLimits(): Promise<void> {
    try {
      this._limits = await this._api.limits();
      this._emit();
    } catch {
      // The form then offers everything, and the server refuses what it does not take.
    }
  }

  private _emit(): void {
    this._changed.emit();
  }

  private readonly _tab: ITab;
  private readonly _api: ScheduleApi;
  private readonly _tracker: INotebookTracker;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _entries = new Map<string, IEntry>();
  private readonly _turns = new Map<string, number>();
  private _limits: ILimits | null = null;
}

export interface ISchedulesOptions {
  readonly tab: ITab;
  readonly api: ScheduleApi;
  readonly tracker: INotebookTracker;
}
