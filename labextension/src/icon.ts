import { LabIcon } from '@jupyterlab/ui-components';

/** A clock whose hand comes back to where it began. */
export const scheduleIcon = new LabIcon({
  name: 'jupyter-schedule:schedule',
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="16">' +
    '<path class="jp-icon3 jp-icon-selectable" fill="#616161" d="M12 4a8 8 0 1 0 8 8h-2a6 6 0 1 1-6-6v3l4.5-4L12 1v3Zm-1 4v5l4.2 2.5.8-1.3-3.5-2.1V8H11Z"/>' +
    '</svg>'
});
