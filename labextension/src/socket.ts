import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { decode, PROTOCOL, ServerMessage, TabMessage } from './protocol';

/** The first pause before a new attempt, and the longest one, in milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 60_000;

/** The close code of a server that had no answer from this tab in time (contract 5.8). */
const AWAY = 4001;

/** Milliseconds to wait before attempt number `attempt`, counted from 0. */
export function pause(attempt: number): number {
  return Math.min(FIRST_PAUSE * 2 ** attempt, LONGEST_PAUSE);
}

export interface ITabSocketOptions {
  readonly settings: ServerConnection.ISettings;
  readonly trans: TranslationBundle;
  /** The version of this front end. */
  readonly version: string;
}

/**
 * The one WebSocket of this tab.
 *
 * It is opened when the first notebook appears and kept open from then on. A server without our
 * half, or with another protocol, is named once, in one sentence, and left alone.
 */
export class TabSocket implements IDisposable {
  constructor(options: ITabSocketOptions) {
    this._settings = options.settings;
    this._trans = options.trans;
    this._version = options.version;
  }

  /** Emitted when the server has welcomed this tab. */
  get opened(): ISignal<this, void> {
    return this._opened;
  }

  get received(): ISignal<this, ServerMessage> {
    return this._received;
  }

  /** Emitted with one sentence when front end and server do not fit together. */
  get mismatched(): ISignal<this, string> {
    return this._mismatched;
  }

  /** The sentence of the last mismatch, or null. */
  get mismatch(): string | null {
    return this._mismatch;
  }

  get isOpen(): boolean {
    return this._isWelcome;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Open the socket, once and for all: what is lost comes back by itself. */
  open(): void {
    if (!this._isBegun && !this._isDisposed) {
      this._isBegun = true;
      this._connect();
    }
  }

  /** Say good-bye: this page is being closed, reloaded or left. */
  leave(): void {
    this._isGivenUp = true;
    clearTimeout(this._timer);
    this._socket?.close(1000);
  }

  /** Send one message; false when there is no connection that could take it. */
  send(message: TabMessage): boolean {
    if (this._socket?.readyState !== this._settings.WebSocket.OPEN) {
      return false;
    }
    this._socket.send(JSON.stringify(message));
    return true;
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
    this._socket?.close();
    Signal.clearData(this);
  }

  private _connect(): void {
    const { settings, url } = this._target();
    const socket = new settings.WebSocket(url);
    this._socket = socket;
    socket.onopen = () => {
      this.send({
        type: 'hello',
        protocol: PROTOCOL,
        version: this._version,
        tab_id: this._tabId
      });
    };
    socket.onmessage = event => {
      const message = decode(event.data as string);
      if (message?.type === 'welcome') {
        this._welcome(message.protocol, message.version);
      } else if (message !== null && this._isWelcome) {
        this._received.emit(message);
      }
    };
    socket.onerror = () => {
      // It says nothing that the close which follows does not say.
    };
    socket.onclose = event => {
      this._isWelcome = false;
      if (!this._isGivenUp && !this._isDisposed) {
        void this._again(event.code);
      }
    };
  }

  private _target() {
    const settings = this._settings;
    const url = URLExt.join(settings.wsUrl, 'jupyter-schedule/tab');
    const query =
      settings.appendToken && settings.token !== ''
        ? `?token=${encodeURIComponent(settings.token)}`
        : '';
    return { settings, url: url + query };
  }

  private _welcome(protocol: number, version: string): void {
    if (protocol !== PROTOCOL) {
      this._isGivenUp = true;
    }
    if (protocol !== PROTOCOL || version !== this._version) {
      this._say(
        this._trans.__(
          'jupyter-schedule: this page has version %1 and its server version %2; reload the page, and if that does not mend it run "pip install jupyter-schedule==%2" where JupyterLab is installed.',
          this._version,
          version
        )
      );
    }
    if (protocol === PROTOCOL) {
      this._isWelcome = true;
      this._wasWelcome = true;
      this._attempt = 0;
      this._opened.emit();
    }
  }

  private async _again(code: number): Promise<void> {
    if (!this._wasWelcome && (await this._isMissing())) {
      this._isGivenUp = true;
      this._say(
        this._trans.__(
          'jupyter-schedule: this Jupyter server does not have it; run "pip install jupyter-schedule==%1" in the server\'s environment and start the server again.',
          this._version
        )
      );
      return;
    }
    // A server that gave this tab up waits for it: the sooner it is back, the better.
    const wait = code === AWAY ? 0 : pause(this._attempt++);
    this._timer = setTimeout(() => {
      this._connect();
    }, wait);
  }

  /** Whether the server is there and has no such route; only that is worth giving up. */
  private async _isMissing(): Promise<boolean> {
    const url = URLExt.join(this._settings.baseUrl, 'jupyter-schedule/tab');
    try {
      const { status } = await ServerConnection.makeRequest(
        url,
        {},
        this._settings
      );
      return status === 404;
    } catch {
      // No server answers at all: it may be starting again.
      return false;
    }
  }

  private _say(sentence: string): void {
    if (this._mismatch === sentence) {
      return;
    }
    this._mismatch = sentence;
    console.warn(sentence);
    this._mismatched.emit(sentence);
  }

  private readonly _settings: ServerConnection.ISettings;
  private readonly _trans: TranslationBundle;
  private readonly _version: string;
  private readonly _tabId = UUID.uuid4();
  private readonly _opened = new Signal<this, void>(this);
  private readonly _received = new Signal<this, ServerMessage>(this);
  private readonly _mismatched = new Signal<this, string>(this);
  private _socket: WebSocket | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _attempt = 0;
  private _mismatch: string | null = null;
  private _isBegun = false;
  private _isGivenUp = false;
  private _isWelcome = false;
  private _wasWelcome = false;
  private _isDisposed = false;
}
