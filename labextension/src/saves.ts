import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';

import { lookAtDisk } from './disk';

type Context = DocumentRegistry.Context;

/** Milliseconds after which a save that began counts as over. */
const LONGEST = 30_000;

/**
 * Saves notebooks where that raises no question.
 *
 * JupyterLab takes a save that meets another one under way for somebody else's change of the file,
 * and asks. So ours waits for the person's, and the person's waits for ours.
 */
export class Saves {
  constructor(contents: Contents.IManager) {
    this._contents = contents;
  }

  /** Know when anybody saves this notebook from this page. */
  watch({ context }: NotebookPanel): void {
    context.saveState.connect((_, state) => {
      this._underWay.get(context)?.resolve();
      this._underWay.delete(context);
      if (state === 'started') {
        const begun = openPromise();
        this._underWay.set(context, begun);
        // A save that a person cancels in a dialog reports no end.
        setTimeout(begun.resolve, LONGEST);
        void begun.promise.then(() => {
          if (this._underWay.get(context) === begun) {
            this._underWay.delete(context);
          }
        });
      }
    }, this);
  }

  isSaving(context: Context): boolean {
    return this._underWay.has(context);
  }

  /** Save; true when the file holds the notebook as it is. */
  async save(context: Context): Promise<boolean> {
    if (context.model.collaborative) {
      return true;
    }
    let state;
    do {
      await this._underWay.get(context)?.promise;
      if (context.isDisposed || context.model.readOnly) {
        return false;
      }
      state = await lookAtDisk(context, this._contents);
    } while (this.isSaving(context));
    return state === 'same' && (await saveAlone(context));
  }

  private readonly _contents: Contents.IManager;
  private readonly _underWay = new WeakMap<
    Context,
    ReturnType<typeof openPromise>
  >();
}

/** Save, and let a save that a person asks for meanwhile come after this one. */
async function saveAlone(context: Context): Promise<boolean> {
  const own = Object.getOwnPropertyDescriptor(context, 'save');
  const save = context.save.bind(context);
  const saved = save().then(
    () => true,
    // JupyterLab has told the person already, as for any save that fails.
    () => false
  );
  let last: Promise<unknown> = saved;
  context.save = () => {
    const next = last.then(save);
    last = next.catch(() => null);
    return next;
  };
  await saved;
  if (own === undefined) {
    Reflect.deleteProperty(context, 'save');
  } else {
    Object.defineProperty(context, 'save', own);
  }
  return saved;
}

function openPromise() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>(settle => {
    resolve = settle;
  });
  return { promise, resolve };
}
