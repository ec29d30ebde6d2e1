import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { INotebookCellExecutor, INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import manifest from '../package.json';
import { Delivery } from './delivery';
import { eachNotebook } from './each';
import { Live } from './live';
import { people } from './people';
import { Presence } from './presence';
import { Requests } from './requests';
import { FollowupRunner } from './run';
import { Saves } from './saves';
import { Scheduled } from './scheduled';
import { Siblings } from './siblings';
import { TabSocket } from './socket';
import { IRequests, ITab } from './tokens';
import { Zone } from './zone';

const tab: JupyterFrontEndPlugin<ITab> = {
  id: 'jupyter-schedule:tab',
  description: 'Tells the server which notebooks this tab holds.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ITranslator],
  provides: ITab,
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    translator: ITranslator | null
  ): ITab => {
    const { contents, serverSettings } = app.serviceManager;
    const socket = new TabSocket({
      settings: serverSettings,
      trans: (translator ?? nullTranslator).load('jupyter_schedule'),
      version: manifest.version
    });
    const live = new Live(socket);
    const presence = new Presence({ tracker, contents, socket });
    const tab: ITab = {
      socket,
      presence,
      isLive: path => live.isLive(path),
      hasCarrier: false
    };
    socket.received.connect((_, message) => {
      if (message.type === 'ask' && !tab.hasCarrier) {
        const { ask } = message;
        socket.send({
          type: 'state',
          ask,
          state: 'busy',
          detail: 'no_carrier'
        });
      }
    }, tab);
    return tab;
  }
};

const requests: JupyterFrontEndPlugin<IRequests> = {
  id: 'jupyter-schedule:requests',
  description: "Lets other plugins add to notebooks' execute requests.",
  autoStart: true,
  requires: [INotebookTracker],
  provides: IRequests,
  activate: (_: JupyterFrontEnd, tracker: INotebookTracker): IRequests => {
    const watcher = new Requests();
    eachNotebook(tracker, ({ context, sessionContext }) => {
      const take = () => {
        const kernel = sessionContext.session?.kernel ?? null;
        if (kernel !== null) {
          watcher.watch(kernel, () => context.localPath);
        }
      };
      sessionContext.kernelChanged.connect(take, watcher);
      take();
    });
    return watcher;
  }
};

const zone: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-schedule:zone',
  description: "Sends the browser's time zone with every prompt of a session.",
  autoStart: true,
  requires: [ITab, IRequests],
  activate: (_: JupyterFrontEnd, tab: ITab, requests: IRequests): void => {
    requests.add(new Zone(tab));
  }
};

const delivery: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-schedule:delivery',
  description: 'Puts due follow-ups into open notebooks and runs them.',
  autoStart: true,
  requires: [ITab, IRequests, INotebookTracker, INotebookCellExecutor],
  activate: (
    app: JupyterFrontEnd,
    tab: ITab,
    requests: IRequests,
    tracker: INotebookTracker,
    executor: INotebookCellExecutor
  ): void => {
    const { contents, events } = app.serviceManager;
    const runner = new FollowupRunner(executor);
    requests.add(runner);
    const scheduled = new Scheduled();
    const { socket, presence } = tab;
    const live = tab;
    const saves = new Saves(contents);
    new Siblings({ events, presence, contents, live, saves });
    eachNotebook(tracker, panel => {
      scheduled.watch(panel);
      saves.watch(panel);
    });
    new Delivery({ socket, presence, scheduled, runner, contents, saves });
    tab.hasCarrier = true;
  }
};

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  tab,
  requests,
  zone,
  delivery,
  ...people
];

export default plugins;
