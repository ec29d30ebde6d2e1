import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { Action } from './api';
import { scheduleIcon } from './icon';
import type { Schedules } from './schedules';
import { isProblem } from './views';

/** The commands, by what they do. */
export const CommandIDs = {
  open: 'jupyter-schedule:open',
  list: 'jupyter-schedule:list',
  create: 'jupyter-schedule:create',
  delete: 'jupyter-schedule:delete',
  run: 'jupyter-schedule:run',
  drop: 'jupyter-schedule:drop',
  retry: 'jupyter-schedule:retry',
  attach: 'jupyter-schedule:attach',
  pause: 'jupyter-schedule:pause',
  unpause: 'jupyter-schedule:unpause'
} as const;

/** Those that need nothing but a notebook, and so stand in the palette. */
export const PALETTE: readonly string[] = [
  CommandIDs.open,
  CommandIDs.attach,
  CommandIDs.pause,
  CommandIDs.unpause
];

type Args = ReadonlyPartialJSONObject;

/** Add everything that a person can do with reminders; all of it works on one notebook. */
export function addCommands(
  commands: CommandRegistry,
  schedules: Schedules,
  trans: TranslationBundle
): void {
  const path = {
    type: 'string',
    description: trans.__('Path of an open notebook; the current one if absent')
  };
  const id = (description: string) => ({
    args: {
      type: 'object',
      properties: { id: { type: 'string', description }, path },
      required: ['id']
    }
  });
  const none = { args: { type: 'object', properties: { path } } };
  const target = (args: Args) =>
    typeof args['path'] === 'string' ? args['path'] : schedules.current;
  const act = (action: Action) => async (args: Args) => {
    const notebook = target(args);
    if (notebook === null) {
      throw new Error(trans.__('There is no notebook open.'));
    }
    const { id } = args;
    const options = typeof id === 'string' ? { id } : {};
    return schedules.act(notebook, action, options);
  };
  const viewOf = (args: Args) => {
    const notebook = target(args);
    const view = notebook === null ? null : schedules.entry(notebook).view;
    return view === null || isProblem(view) ? null : view;
  };

  commands.addCommand(CommandIDs.list, {
    label: trans.__('List Reminders'),
    describedBy: none,
    execute: args => {
      const notebook = target(args);
      return notebook === null ? null : schedules.api.notebook(notebook);
    }
  });
  commands.addCommand(CommandIDs.create, {
    label: trans.__('Create a Reminder'),
    describedBy: {
      args: {
        type: 'object',
        description: trans.__('One of after_seconds, at and every_seconds'),
        properties: {
          prompt: {
            type: 'string',
            description: trans.__('What the agent shall look at')
          },
          after_seconds: {
            type: 'integer',
            description: trans.__('Seconds from now')
          },
          at: {
            type: ['string', 'object'],
            description: trans.__(
              'An RFC 3339 instant, or date, time and time_zone'
            )
          },
          every_seconds: {
            type: 'integer',
            description: trans.__('Seconds from one time to the next')
          },
          path
        },
        required: ['prompt']
      }
    },
    execute: ({ path, ...given }) => {
      const notebook = typeof path === 'string' ? path : schedules.current;
      if (notebook === null) {
        throw new Error(trans.__('There is no notebook open.'));
      }
      const create = JSON.parse(JSON.stringify(given)) as Record<
        string,
        string
      >;
      return schedules.act(notebook, 'create', { arguments: create });
    }
  });
  commands.addCommand(CommandIDs.delete, {
    label: trans.__('Delete a Reminder'),
    describedBy: id(trans.__('The reminder, such as schedule-1')),
    execute: act('delete')
  });
  commands.addCommand(CommandIDs.run, {
    label: trans.__('Run a Reminder Now'),
    describedBy: id(trans.__('The reminder, such as schedule-1')),
    execute: act('run')
  });
  commands.addCommand(CommandIDs.drop, {
    label: trans.__('Drop a Queued Follow-up'),
    describedBy: id(trans.__('The follow-up, such as followup-1')),
    execute: act('drop')
  });
  commands.addCommand(CommandIDs.retry, {
    label: trans.__('Retry a Follow-up'),
    describedBy: id(trans.__('The follow-up, such as followup-1')),
    execute: act('retry')
  });
  commands.addCommand(CommandIDs.attach, {
    label: trans.__('Attach the Agent to This Notebook'),
    icon: scheduleIcon,
    describedBy: none,
    isEnabled: args => viewOf(args)?.live === false,
    execute: act('attach')
  });
  commands.addCommand(CommandIDs.pause, {
    label: trans.__('Pause the Reminders of This Notebook'),
    describedBy: none,
    isEnabled: args => {
      const view = viewOf(args);
      return view !== null && view.session_id !== null && !view.paused;
    },
    execute: act('pause')
  });
  commands.addCommand(CommandIDs.unpause, {
    label: trans.__('Let the Reminders of This Notebook Go On'),
    describedBy: none,
    isEnabled: args => Boolean(viewOf(args)?.paused),
    execute: act('unpause')
  });
  const refresh = () => {
    commands.notifyCommandChanged();
  };
  schedules.changed.connect(refresh, schedules);
}
