import type { Kernel } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

import { identityOf, METADATA_KEY } from './identity';

/** One execute request on its way to a kernel. */
export interface IRequest {
  readonly kernel: Kernel.IKernelConnection;
  /** The contents path of the notebook, or null where there is none. */
  readonly path: string | null;
  readonly code: string;
  /** Null for a request that no cell made. */
  readonly cellId: string | null;
}

/** What the kernel connection answers to a request that was sent. */
export type Future = ReturnType<Kernel.IKernelConnection['requestExecute']>;

/** Somebody who adds to the metadata of execute requests. */
export interface IContributor {
  /** Fields for the key `jupyter_schedule`; null for none. Called once for every request. */
  contribute(request: IRequest): JSONObject | null;
  /** The request was handed to the kernel connection. */
  sent?(request: IRequest, future: Future): void;
}

/**
 * The one place that touches `requestExecute` of kernel connections.
 *
 * JupyterLab sends a cell's metadata with its request. Under our key a file could hold anything,
 * so that only the identity is taken from there and all else comes from the contributors.
 */
export class Requests {
  /** Let `contributor` take part in every later request. */
  add(contributor: IContributor): void {
    this._contributors.push(contributor);
  }

  /** Watch a kernel connection, once; `path` is asked for each request, since notebooks move. */
  watch(kernel: Kernel.IKernelConnection, path: () => string | null): void {
    if (this._watched.has(kernel)) {
      return;
    }
    this._watched.add(kernel);
    const send = kernel.requestExecute.bind(kernel);
    kernel.requestExecute = (content, disposeOnDone, metadata) => {
      const cellId = metadata?.['cellId'];
      const request: IRequest = {
        kernel,
        path: path(),
        code: content.code,
        cellId: typeof cellId === 'string' ? cellId : null
      };
      const future = send(
        content,
        disposeOnDone,
        this._metadata(request, metadata)
      );
      for (const contributor of this._contributors) {
        contributor.sent?.(request, future);
      }
      return future;
    };
  }

  private _metadata(
    request: IRequest,
    given: JSONObject | undefined
  ): JSONObject | undefined {
    const own: JSONObject = { ...identityOf(given) };
    for (const contributor of this._contributors) {
      Object.assign(own, contributor.contribute(request));
    }
    if (Object.keys(own).length > 0) {
      return { ...given, [METADATA_KEY]: own };
    }
    if (given === undefined || !(METADATA_KEY in given)) {
      return given;
    }
    return Object.fromEntries(
      Object.entries(given).filter(([key]) => key !== METADATA_KEY)
    );
  }

  private readonly _contributors: IContributor[] = [];
  private readonly _watched = new WeakSet<Kernel.IKernelConnection>();
}
