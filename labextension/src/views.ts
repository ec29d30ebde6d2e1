/** What the server shows of notebooks (docs/design.md, "REST"). Instants are UTC, RFC 3339. */

/** One reminder that waits. */
export interface IReminderView {
  readonly id: string;
  readonly kind: 'after' | 'at' | 'every';
  readonly prompt: string;
  readonly scheduled_at: string;
  readonly state: 'scheduled' | 'overdue';
  readonly after_seconds?: number;
  readonly every_seconds?: number;
}

/** What due reminders became. */
export interface IFollowupView {
  readonly id: string;
  /** `queued`, `granted`, `inserted`, `claimed`, `ended` or `dropped`. */
  readonly state: string;
  readonly outcome: string | null;
  readonly reminders: readonly {
    readonly id: string;
    readonly occurrence_at: string | null;
  }[];
  readonly accepted_at: string;
  readonly cell_id: string;
  readonly text: string;
}

/** A notebook's session, live or cold. */
export interface INotebookView {
  readonly path: string;
  readonly live: boolean;
  /** Null where the notebook has no log. */
  readonly session_id: string | null;
  readonly reminders: readonly IReminderView[];
  readonly next?: string | null;
  readonly paused?: 'person' | 'unattended_limit' | null;
  readonly followup?: IFollowupView | null;
  readonly unfinished?: readonly IFollowupView[];
  readonly turns?: number;
  /** Why something due is not delivered: a code and its sentence. */
  readonly reason: string | null;
  readonly why: string | null;
  readonly recovered?: string | null;
}

/** A log that cannot be used as it is; the truth is an error then, not an empty list. */
export interface IProblemView {
  readonly path: string;
  readonly live: false;
  readonly code: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
}

export type SessionView = INotebookView | IProblemView;

export function isProblem(view: SessionView): view is IProblemView {
  return 'code' in view;
}

/** How many reminders and queued follow-ups wait in a notebook. */
export function waitingCount(view: INotebookView): number {
  return view.reminders.length + (isQueued(view.followup) ? 1 : 0);
}

/** Whether a follow-up has not reached the agent yet, so that a person can drop it. */
export function isQueued(followup: IFollowupView | null | undefined): boolean {
  return ['queued', 'granted', 'inserted'].includes(followup?.state ?? '');
}

/** What a create form must know. */
export interface ILimits {
  readonly fixed_rate: boolean;
  readonly min_every_seconds: number;
  readonly prompt_bytes: number;
  readonly reminders: number;
}

/** One turn of the conversation. */
export interface ITurnView {
  readonly turn: number;
  readonly input: { readonly kind: string; readonly followup_id?: string };
  readonly outcome: string | null;
  readonly messages: readonly {
    readonly role: 'user' | 'assistant' | 'tool';
    readonly text?: string;
  }[];
  /** Mime bundles of what its cell showed: texts as Markdown and other outputs, in order. */
  readonly outputs: readonly Record<string, unknown>[];
}
