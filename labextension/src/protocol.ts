/**
 * The messages between a tab and the server (docs/design.md, "Tab WebSocket").
 *
 * Paths are contents paths without a leading slash and without a drive.
 */

/** The version of this protocol; a server that speaks another one is not talked to. */
export const PROTOCOL = 1;

/** What the server needs to know of one notebook that this tab holds. */
export interface IHeldNotebook {
  readonly path: string;
  readonly kernel_id: string | null;
  readonly dirty: boolean;
  readonly read_only: boolean;
}

/** Whether a follow-up could run in a notebook right now. */
export type Readiness = 'ready' | 'busy' | 'gone' | 'read_only';

/** Why a granted lease was not used: `expired` covers a revoked one and a notebook that is gone. */
export type Refusal = 'expired' | 'busy' | 'read_only';

/** A cell as it stands in a file of format 4.5. */
export interface ICodeCell {
  readonly cell_type: 'code';
  readonly id?: string;
  readonly source: string | readonly string[];
  readonly metadata: Record<string, unknown>;
  readonly outputs: readonly unknown[];
  readonly execution_count: number | null;
}

export interface IGrant {
  readonly type: 'grant';
  readonly lease: number;
  /** The question whose answer was `ready`. */
  readonly ask: number;
  /** Milliseconds between question and grant, on the server's clock. */
  readonly since_ask_ms: number;
  /** Milliseconds that the question can have been on its way at most. */
  readonly margin_ms: number;
  readonly lease_ms: number;
  readonly session_id: string;
  readonly followup_id: string;
  readonly path: string;
  readonly kernel_id: string;
  readonly cell_id: string;
  readonly source: string;
  readonly earlier_sources: readonly string[];
}

export interface IPlace {
  readonly type: 'place';
  /** The number that the answer repeats. */
  readonly outputs: number;
  readonly path: string;
  /** Its metadata carry the identity. */
  readonly cell: ICodeCell;
}

export type ServerMessage =
  | {
      readonly type: 'welcome';
      readonly protocol: number;
      readonly version: string;
    }
  | { readonly type: 'live'; readonly paths: readonly string[] }
  | {
      readonly type: 'ask';
      readonly ask: number;
      readonly path: string;
      readonly kernel_id: string;
    }
  | IGrant
  | { readonly type: 'revoke'; readonly lease: number }
  | IPlace
  | { readonly type: 'changed'; readonly path: string }
  | {
      readonly type: 'cold';
      readonly path: string;
      /** How many reminders wait for the session to be attached again. */
      readonly waiting: number;
    };

export type TabMessage =
  | {
      readonly type: 'hello';
      readonly protocol: number;
      readonly version: string;
      readonly tab_id: string;
    }
  | {
      readonly type: 'notebooks';
      readonly notebooks: readonly IHeldNotebook[];
      readonly visible: boolean;
      readonly focused: boolean;
    }
  | { readonly type: 'focus'; readonly path: string }
  | {
      readonly type: 'state';
      readonly ask: number;
      readonly state: Readiness;
      readonly detail: string;
    }
  | {
      readonly type: 'inserted';
      readonly lease: number;
      readonly followup_id: string;
      readonly cell_id: string;
      /** Null where a front end runs cells without a request of its own. */
      readonly msg_id: string | null;
      readonly existed: boolean;
    }
  | {
      /** The run is over; its outputs are saved, or are a person's to save. */
      readonly type: 'settled';
      readonly lease: number;
    }
  | {
      readonly type: 'refused';
      readonly lease: number;
      readonly reason: Refusal;
      readonly detail: string;
    }
  | {
      readonly type: 'placed';
      readonly outputs: number;
      readonly cell_id: string;
      /** False when the notebook had unsaved changes, or other changes on disk. */
      readonly saved: boolean;
    };

const KINDS: ReadonlySet<string> = new Set<ServerMessage['type']>([
  'welcome',
  'live',
  'ask',
  'grant',
  'revoke',
  'place',
  'changed',
  'cold'
]);

/** Decode one message; null for a type that a newer server may add. */
export function decode(text: string): ServerMessage | null {
  const message = JSON.parse(text) as { type?: unknown };
  return typeof message.type === 'string' && KINDS.has(message.type)
    ? (message as ServerMessage)
    : null;
}
