import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { IHeldNotebook } from './protocol';
import { isReadOnly } from './readiness';
import { followDisk } from './reload';
import type { TabSocket } from './socket';

/** The server's own files, and the same files as jupyter-collaboration serves them. */
const DRIVES: ReadonlySet<string> = new Set(['', 'RTC']);

/** Milliseconds between two reports that a person is at work in this tab. */
const ACTIVITY_PAUSE = 1000;

/** What a notebook says about itself to the server. */
export function describe(panel: NotebookPanel): IHeldNotebook {
  const { context, sessionContext } = panel;
  const kernel = sessionContext.session?.kernel ?? null;
  return {
    path: context.localPath,
    kernel_id: kernel?.id ?? null,
    // What a collaboration room holds does not vanish with this page.
    dirty: context.model.dirty && context.model.collaborative !== true,
    read_only: isReadOnly(panel)
  };
}

export interface IPresenceOptions {
  readonly tracker: INotebookTracker;
  readonly contents: Contents.IManager;
  readonly socket: TabSocket;
}

/**
 * Tells the server which notebooks this tab holds, in what state, and when a person uses it.
 *
 * A notebook without unsaved changes is compared with the disk first, whenever this connection
 * has not seen it yet: while this tab was away the server may have written the file, and a tab
 * that comes back must not bring an older state with it (contract 5.8).
 */
export class Presence implements IDisposable {
  constructor(options: IPresenceOptions) {
    this._tracker = options.tracker;
    this._contents = options.contents;
    this._socket = options.socket;
    this._tracker.widgetAdded.connect(this._onAdded, this);
    this._tracker.forEach(panel => {
      this._onAdded(this._tracker, panel);
    });
    this._tracker.currentChanged.connect(this._onActivity, this);
    this._socket.opened.connect(this._onOpened, this);
    document.addEventListener('visibilitychange', this._onPage);
    window.addEventListener('focus', this._onPage);
    window.addEventListener('blur', this._onPage);
    window.addEventListener('pagehide', this._onHide);
    window.addEventListener('pointerdown', this._onInput, true);
    window.addEventListener('keydown', this._onInput, true);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** The notebook of this path on this kernel; the view that was used last, where it has several. */
  find(path: string, kernelId: string): NotebookPanel | null {
    const panel = this.findByPath(path);
    return panel?.sessionContext.session?.kernel?.id === kernelId
      ? panel
      : null;
  }

  /** The notebook of this path, whatever kernel it has. */
  findByPath(path: string): NotebookPanel | null {
    const isIt = (panel: NotebookPanel) =>
      this.holds(panel) && panel.context.localPath === path;
    const { currentWidget } = this._tracker;
    return currentWidget !== null && isIt(currentWidget)
      ? currentWidget
      : (this._tracker.find(isIt) ?? null);
  }

  /** Whether a notebook is loaded and a file of this server. */
  holds(panel: NotebookPanel): boolean {
    return (
      !panel.isDisposed &&
      panel.context.isReady &&
      DRIVES.has(this._contents.driveName(panel.context.path))
    );
  }

  /** The paths of all notebooks that this tab holds. */
  paths(): string[] {
    const paths = new Set<string>();
    this._tracker.forEach(panel => {
      if (this.holds(panel)) {
        paths.add(panel.context.localPath);
      }
    });
    return [...paths];
  }

  dispose(): void {
    this._isDisposed = true;
    document.removeEventListener('visibilitychange', this._onPage);
    window.removeEventListener('focus', this._onPage);
    window.removeEventListener('blur', this._onPage);
    window.removeEventListener('pagehide', this._onHide);
    window.removeEventListener('pointerdown', this._onInput, true);
    window.removeEventListener('keydown', this._onInput, true);
    Signal.clearData(this);
  }

  private _onAdded(_: INotebookTracker, panel: NotebookPanel): void {
    const { context, sessionContext } = panel;
    this._socket.open();
    const announce = () => {
      this._announce(false);
    };
    const again = () => {
      this._announce(true);
    };
    context.pathChanged.connect(announce, this);
    context.model.stateChanged.connect(announce, this);
    context.fileChanged.connect(announce, this);
    sessionContext.kernelChanged.connect(announce, this);
    // The server leaves out what does not match its sessions: when one has followed, say it again.
    sessionContext.propertyChanged.connect(again, this);
    sessionContext.connectionStatusChanged.connect(again, this);
    panel.disposed.connect(announce, this);
    void context.ready.then(announce);
  }

  private _onOpened(): void {
    this._seen = new WeakSet();
    this._sent = '';
    this._announce(false);
  }

  private readonly _onPage = (): void => {
    this._announce(false);
    if (document.hasFocus()) {
      this._onActivity();
    }
  };

  /** A page that crashes says nothing, and so the server can tell the two apart. */
  private readonly _onHide = (): void => {
    this._socket.leave();
  };

  private readonly _onInput = ({ timeStamp }: Event): void => {
    if (timeStamp - this._active > ACTIVITY_PAUSE) {
      this._active = timeStamp;
      this._onActivity();
    }
  };

  private _onActivity(): void {
    const panel = this._tracker.currentWidget;
    if (panel !== null && this.holds(panel) && document.hasFocus()) {
      this._socket.send({ type: 'focus', path: panel.context.localPath });
    }
  }

  /** Send the whole state; `again` also when it is what was sent last. */
  private _announce(again: boolean): void {
    this._again ||= again;
    if (this._isScheduled) {
      return;
    }
    this._isScheduled = true;
    queueMicrotask(() => {
      this._isScheduled = false;
      this._sendState();
    });
  }

  private _sendState(): void {
    if (!this._socket.isOpen) {
      return;
    }
    const notebooks = new Map<string, IHeldNotebook>();
    this._tracker.forEach(panel => {
      if (!this.holds(panel)) {
        return;
      }
      if (!this._seen.has(panel.context) && !panel.context.model.dirty) {
        void this._compare(panel);
        return;
      }
      this._seen.add(panel.context);
      const notebook = describe(panel);
      notebooks.set(notebook.path, notebook);
    });
    const message = {
      type: 'notebooks',
      notebooks: [...notebooks.values()],
      visible: document.visibilityState === 'visible',
      focused: document.hasFocus()
    } as const;
    const text = JSON.stringify(message);
    if (text !== this._sent || this._again) {
      this._again = false;
      this._sent = this._socket.send(message) ? text : '';
    }
  }

  /** Bring a notebook to the state of the disk, and announce it then. */
  private async _compare(panel: NotebookPanel): Promise<void> {
    const { context } = panel;
    const seen = this._seen;
    if (this._comparing.has(context)) {
      return;
    }
    this._comparing.add(context);
    await followDisk(panel, this._contents);
    this._comparing.delete(context);
    // If the connection was lost meanwhile, the next one compares anew.
    seen.add(context);
    this._announce(false);
  }

  private readonly _tracker: INotebookTracker;
  private readonly _contents: Contents.IManager;
  private readonly _socket: TabSocket;
  private readonly _comparing = new Set<DocumentRegistry.Context>();
  private _seen = new WeakSet<DocumentRegistry.Context>();
  private _sent = '';
  private _active = 0;
  private _again = false;
  private _isScheduled = false;
  private _isDisposed = false;
}
