import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import type { CodeCell } from '@jupyterlab/cells';

import { reloadIfChanged } from './disk';
import { IStanding, placeCell } from './insert';
import { age, IMoment, isAlive, now } from './lease';
import { placeOutputs } from './place';
import type { Presence } from './presence';
import type { IGrant, IPlace, Refusal, ServerMessage } from './protocol';
import { IReadiness, judge, look } from './readiness';
import type { FollowupRunner } from './run';
import type { Saves } from './saves';
import type { Scheduled } from './scheduled';
import type { TabSocket } from './socket';

/** A grant of this age, in milliseconds, reached a page that was frozen or a slow connection. */
const LATE = 1000;

/** What such a page waits for the messages behind the grant, in milliseconds. */
const PATIENCE = 100;

/** Questions whose time is kept; the server has long given up the older ones. */
const REMEMBERED = 100;

export interface IDeliveryOptions {
  readonly socket: TabSocket;
  readonly presence: Presence;
  readonly scheduled: Scheduled;
  readonly runner: FollowupRunner;
  readonly contents: Contents.IManager;
  readonly saves: Saves;
}

/**
 * The browser carrier: puts a follow-up's cell into the notebook and runs it (contract 5.8).
 *
 * Lease check, insertion, run and the word to the server happen in one task: nothing else of the
 * page comes between them.
 */
export class Delivery {
  constructor(options: IDeliveryOptions) {
    this._options = options;
    options.socket.received.connect(this._onMessage, this);
  }

  private _onMessage(socket: TabSocket, message: ServerMessage): void {
    switch (message.type) {
      case 'ask': {
        this._remember(message.ask, now());
        const panel = this._options.presence.find(
          message.path,
          message.kernel_id
        );
        const answer = this._judge(panel);
        socket.send({ type: 'state', ask: message.ask, ...answer });
        break;
      }
      case 'grant':
        this._receive(message);
        break;
      case 'revoke':
        this._revoked.add(message.lease);
        break;
      case 'place':
        void this._place(message);
        break;
      case 'welcome':
      case 'live':
      case 'changed':
      case 'cold':
        break;
    }
  }

  /** Carry at once, but let what waits behind a late grant, a revocation above all, be read first. */
  private _receive(grant: IGrant): void {
    const asked = this._asked.get(grant.ask);
    if (asked !== undefined && age(grant, asked, now()) > LATE) {
      setTimeout(() => {
        this._carry(grant);
      }, PATIENCE);
    } else {
      this._carry(grant);
    }
  }

  private _judge(panel: NotebookPanel | null): IReadiness {
    return panel === null
      ? { state: 'gone', detail: 'not_held' }
      : judge(look(panel, this._options.scheduled));
  }

  private _carry(grant: IGrant): void {
    const { socket, presence, runner } = this._options;
    const refuse = (reason: Refusal, detail: string) => {
      socket.send({ type: 'refused', lease: grant.lease, reason, detail });
    };
    const asked = this._asked.get(grant.ask);
    const panel = presence.find(grant.path, grant.kernel_id);
    const { state, detail } = this._judge(panel);
    if (this._revoked.delete(grant.lease)) {
      refuse('expired', 'revoked');
    } else if (asked === undefined || !isAlive(grant, asked, now())) {
      refuse('expired', 'too_old');
    } else if (panel === null || state === 'gone') {
      refuse('expired', detail);
    } else if (state !== 'ready') {
      refuse(state, detail);
    } else {
      const { context } = panel;
      const wasClean = this._isClean(context);
      const standing = placeCell(context.model.sharedModel, grant);
      const { lease, session_id, followup_id } = grant;
      const run = runner.run(panel, standing, {
        lease,
        session_id,
        followup_id
      });
      if (run === null) {
        refuse('busy', 'cell_not_shown');
        return;
      }
      socket.send({
        type: 'inserted',
        lease,
        followup_id,
        cell_id: standing.cell.getId(),
        msg_id: run.msgId,
        existed: standing.existed
      });
      const settled = wasClean ? this._keepSaved(context, run.done) : run.done;
      void settled.finally(() => {
        socket.send({ type: 'settled', lease });
      });
    }
  }

  /** Whether nothing is unsaved but, perhaps, what a cell just left that is about to be saved. */
  private _isClean(context: NotebookPanel['context']): boolean {
    return !context.model.dirty || this._kept.has(context);
  }

  /**
   * Save now, so that the cell is safe, and again when its outputs are there.
   *
   * One after another for each notebook.
   */
  private _keepSaved(
    context: NotebookPanel['context'],
    done: Promise<void>
  ): Promise<void> {
    const { saves } = this._options;
    const save = async () => {
      await saves.save(context);
      await done;
      await saves.save(context);
    };
    const kept = (this._kept.get(context) ?? Promise.resolve())
      .then(save)
      .finally(() => {
        if (this._kept.get(context) === kept) {
          this._kept.delete(context);
        }
      });
    this._kept.set(context, kept);
    return kept;
  }

  /** Take over what a headless run left, and save it in the server's stead. */
  private async _place(message: IPlace): Promise<void> {
    const { socket, presence, contents, saves } = this._options;
    const panel = presence.findByPath(message.path);
    if (panel === null) {
      return;
    }
    const { context } = panel;
    await reloadIfChanged(context, contents);
    const wasClean = this._isClean(context);
    const standing = placeOutputs(context.model.sharedModel, message.cell);
    if (standing === null) {
      return;
    }
    trust(panel, standing);
    const saved = wasClean && (await saves.save(context));
    const cell_id = standing.cell.getId();
    socket.send({ type: 'placed', outputs: message.outputs, cell_id, saved });
  }

  private _remember(ask: number, at: IMoment): void {
    this._asked.set(ask, at);
    for (const old of this._asked.keys()) {
      if (this._asked.size <= REMEMBERED) {
        break;
      }
      this._asked.delete(old);
    }
  }

  private readonly _options: IDeliveryOptions;
  private readonly _asked = new Map<number, IMoment>();
  private readonly _revoked = new Set<number>();
  private readonly _kept = new Map<NotebookPanel['context'], Promise<void>>();
}

/** Outputs that this notebook's own kernel made are shown as after a person's Run. */
function trust(panel: NotebookPanel, standing: IStanding): void {
  const widget = panel.content.widgets[standing.index] as CodeCell | undefined;
  if (widget !== undefined) {
    widget.model.trusted = true;
  }
}
