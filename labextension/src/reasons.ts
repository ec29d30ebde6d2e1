import type { TranslationBundle } from '@jupyterlab/translation';

/** Why something due is not delivered, for people (contract 5.12); null for an unknown code. */
export function reasonText(
  reason: string,
  trans: TranslationBundle
): string | null {
  switch (reason) {
    case 'busy':
      return trans.__('A cell is running or queued, or waits for input.');
    case 'turn_open':
      return trans.__('The agent is at work.');
    case 'settling':
      return trans.__('The kernel has just become idle.');
    case 'retrying':
      return trans.__(
        'The last try did not reach the agent; it is tried again.'
      );
    case 'no_kernel':
      return trans.__('No kernel runs for this notebook.');
    case 'not_attached':
      return trans.__('The kernel is not attached.');
    case 'paused':
      return trans.__('This notebook is paused.');
    case 'unattended_limit':
      return trans.__(
        'Many follow-ups ran without a prompt from a person, so the notebook was paused.'
      );
    case 'held_elsewhere':
      return trans.__("Another server holds this notebook's log.");
    case 'foreign_log':
      return trans.__('The log was not written here and must be adopted.');
    case 'log_too_new':
      return trans.__(
        'The log was written by a newer version of jupyter-schedule.'
      );
    case 'corrupt_log':
      return trans.__('The log is damaged.');
    case 'persistence':
      return trans.__('The log cannot be written at the moment.');
    case 'front_end_unreachable':
      return trans.__(
        'A browser tab that may hold unsaved changes does not answer.'
      );
    case 'other_client':
      return trans.__('Another client holds the notebook or its kernel.');
    case 'headless_off':
      return trans.__('Delivery without a browser is switched off.');
    case 'read_only':
      return trans.__('The notebook is read-only.');
    case 'notebook_unreadable':
      return trans.__('The notebook file cannot be read.');
    case 'notebook_not_writable':
      return trans.__('The notebook file cannot be written.');
    default:
      return null;
  }
}
