import type { ServerMessage } from './protocol';
import type { TabSocket } from './socket';
import type { ILiveNotebooks } from './zone';

/**
 * The notebooks of live sessions, as the server last said.
 *
 * While the connection is down the last word stands: a prompt typed then has its zone, too.
 */
export class Live implements ILiveNotebooks {
  constructor(socket: TabSocket) {
    socket.received.connect(this._onMessage, this);
  }

  isLive(path: string): boolean {
    return this._paths.has(path);
  }

  private _onMessage(_: TabSocket, message: ServerMessage): void {
    if (message.type === 'live') {
      this._paths = new Set(message.paths);
    }
  }

  private _paths: ReadonlySet<string> = new Set();
}
