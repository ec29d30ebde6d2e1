import type { Contents, Event } from '@jupyterlab/services';

import type { Presence } from './presence';
import { followDisk } from './reload';
import type { Saves } from './saves';
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

  private _onEvent(_: Event.IManager, event: Event.Emission): void {
    const { schema_id, action, path } = event;
    if (
      schema_id !== CONTENTS ||
      action !== 'save' ||
      typeof path !== 'string'
    ) {
      return;
    }
    const { presence, live, contents, saves } = this._options;
    const local = path.replace(/^\//, '');
    const panel = presence.findByPath(local);
    // What this tab itself saves is no news.
    if (panel && live.isLive(local) && !saves.isSaving(panel.context)) {
      void followDisk(panel, contents);
    }
  }

  private readonly _options: ISiblingsOptions;
}

export interface ISiblingsOptions {
  readonly events: Event.IManager;
  readonly presence: Presence;
  readonly contents: Contents.IManager;
  readonly live: ILiveNotebooks;
  readonly saves: Saves;
}
