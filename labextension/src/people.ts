import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { ScheduleApi } from './api';
import { ColdLine } from './coldline';
import { addCommands, CommandIDs, PALETTE } from './commands';
import { eachNotebook } from './each';
import { scheduleIcon } from './icon';
import { markFollowups } from './mark';
import { SchedulePanel } from './panel/panel';
import { Preferences } from './preferences';
import { Schedules } from './schedules';
import { StatusItem } from './status';
import { IPreferences, ISchedules, ITab } from './tokens';

const DOMAIN = 'jupyter_schedule';

const schedules: JupyterFrontEndPlugin<ISchedules> = {
  id: 'jupyter-schedule:schedules',
  description: 'Knows what waits in the open notebooks.',
  autoStart: true,
  requires: [ITab, INotebookTracker],
  provides: ISchedules,
  activate: (
    app: JupyterFrontEnd,
    tab: ITab,
    tracker: INotebookTracker
  ): ISchedules => {
    const api = new ScheduleApi(app.serviceManager.serverSettings);
    return new Schedules({ tab, api, tracker });
  }
};

const settings: JupyterFrontEndPlugin<IPreferences> = {
  id: 'jupyter-schedule:settings',
  description: 'What a person has switched off.',
  autoStart: true,
  optional: [ISettingRegistry],
  provides: IPreferences,
  activate: (
    _: JupyterFrontEnd,
    registry: ISettingRegistry | null
  ): IPreferences => {
    const preferences = new Preferences();
    registry?.load(settings.id).then(
      loaded => {
        preferences.use(loaded);
      },
      (reason: unknown) => {
        console.warn(reason);
      }
    );
    return preferences;
  }
};

const commands: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-schedule:commands',
  description: 'Commands for everything that a person can do with reminders.',
  autoStart: true,
  requires: [ISchedules],
  optional: [ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    schedules: ISchedules,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(DOMAIN);
    addCommands(app.commands, schedules, trans);
    const category = trans.__('Reminders');
    for (const command of PALETTE) {
      palette?.addItem({ command, category });
    }
  }
};

const panel: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-schedule:panel',
  description: 'The side panel with the reminders of the open notebooks.',
  autoStart: true,
  requires: [ISchedules],
  optional: [ILayoutRestorer, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    schedules: ISchedules,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(DOMAIN);
    const widget = new SchedulePanel(schedules, trans);
    app.shell.add(widget, 'right', { rank: 700 });
    restorer?.add(widget, widget.id);
    app.commands.addCommand(CommandIDs.open, {
      label: trans.__('Show Reminders'),
      icon: scheduleIcon,
      describedBy: { args: { type: 'object', properties: {} } },
      execute: () => {
        app.shell.activateById(widget.id);
      }
    });
  }
};

const status: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-schedule:status',
  description: 'Says in the status bar what waits in the current notebook.',
  autoStart: true,
  requires: [ISchedules, IPreferences, IStatusBar],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    schedules: ISchedules,
    preferences: IPreferences,
    bar: IStatusBar,
    translator: ITranslator | null
  ): void => {
    const item = new StatusItem({
      schedules,
      trans: (translator ?? nullTranslator).load(DOMAIN),
      isWanted: () => preferences.get('statusItem'),
      open: () => {
        void app.commands.execute(CommandIDs.open);
      }
    });
    bar.registerStatusItem(status.id, { item, align: 'left', rank: 4 });
    preferences.changed.connect(() => {
      item.update();
    }, item);
  }
};

const line: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-schedule:line',
  description: 'Says above a notebook that reminders wait for its agent.',
  autoStart: true,
  requires: [ISchedules, IPreferences, INotebookTracker],
  optional: [ITranslator],
  activate: (
    _: JupyterFrontEnd,
    schedules: ISchedules,
    preferences: IPreferences,
    tracker: INotebookTracker,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(DOMAIN);
    const isWanted = () => preferences.get('coldLine');
    eachNotebook(tracker, panel => {
      const widget = new ColdLine({ schedules, trans, panel, isWanted });
      panel.contentHeader.addWidget(widget);
      preferences.changed.connect(widget.refresh, widget);
    });
  }
};

const mark: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-schedule:mark',
  description: 'Marks the cells that a reminder brought.',
  autoStart: true,
  requires: [IPreferences, INotebookTracker],
  activate: (
    _: JupyterFrontEnd,
    preferences: IPreferences,
    tracker: INotebookTracker
  ): void => {
    eachNotebook(tracker, panel => {
      const update = () => {
        if (!panel.isDisposed) {
          markFollowups(panel, preferences.get('markFollowups'));
        }
      };
      void panel.context.ready.then(() => {
        panel.context.model.cells.changed.connect(update, panel);
        update();
      });
      preferences.changed.connect(update, panel);
    });
  }
};

/** The plugins for people; each can be disabled by its id. */
export const people: JupyterFrontEndPlugin<unknown>[] = [
  schedules,
  settings,
  commands,
  panel,
  status,
  line,
  mark
];
