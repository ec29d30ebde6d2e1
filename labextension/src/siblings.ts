import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Contents, Event } from '@jupyterlab/services';

import type { Presence } from './presence';
import { followDisk } from './reload';
import type { ILiveNotebooks } from './zone';

const CONTENTS =
  'https://events.jupyter.org/jupyter_server/contents_service/v1';

/**
 * Lets a tab follow what another tab of the same live notebook has saved.
 *
 * The tab that carries a follow-up saves the file. Another one that shows the notebook, and has
 * nothing unsaved, would hold an older state and bring up "File Changed" at its next save.
 */
export class Siblings {
  constructor(options: ISiblingsOptions) {
    this._options = options;
    options.events.stream.connect(this._onEvent, this);
  }

  /** Know when this tab itself saves a notebook: that is no news. */
  watch({ context }: NotebookPanel): void {
    context.saveState.connect((_, state) => {
      if (state === 'started') {
        this._saving.add(context);
      } else {
        this._saving.delete(context);
      }
    }, this);
  }

  private _onEvent(_: Event.IManager, event: Event.Emission): void {
    const { schema_id, action, path } = event;
    if (
      schema_id !== CONTENTS ||
      action !== 'save' ||
      typeof path !== 'string'
    ) {
      return;
    }
    const { presence, live, contents } = this._options;
    const local = path.replace(/^\//, '');
    const panel = presence.findByPath(local);
    if (panel && live.isLive(local) && !this._saving.has(panel.context)) {
      void followDisk(panel, contents);
    }
  }

  private readonly _options: ISiblingsOptions;
  private readonly _saving = new WeakSet<NotebookPanel['context']>();
}

export interface ISiblingsOptions {
  readonly events: Event.IManager;
  readonly presence: Presence;
  readonly contents: Contents.IManager;
  readonly live: ILiveNotebooks;
}
