import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

/** Do something with every notebook that is open, and with every later one. */
export function eachNotebook(
  tracker: INotebookTracker,
  act: (panel: NotebookPanel) => void
): void {
  tracker.forEach(act);
  tracker.widgetAdded.connect((_, panel) => {
    act(panel);
  }, tracker);
}
