import type { Kernel } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

/** One request as it left. */
export interface ISent {
  readonly code: string;
  readonly metadata: JSONObject | undefined;
  readonly msgId: string;
  /** Let the kernel answer. */
  readonly finish: () => void;
}

/** The side of a kernel connection that execute requests see; it keeps what it was given. */
export class KernelStandIn {
  readonly id: string = 'kernel-1';
  readonly sent: ISent[] = [];

  requestExecute(
    content: { code: string },
    _disposeOnDone?: boolean,
    metadata?: JSONObject
  ) {
    const msgId = `message-${this.sent.length + 1}`;
    const { promise, resolve } = withResolver();
    this.sent.push({ code: content.code, metadata, msgId, finish: resolve });
    return { msg: { header: { msg_id: msgId } }, done: promise };
  }

  /** The connection, as far as the code under test uses one. */
  get connection(): Kernel.IKernelConnection {
    return this as unknown as Kernel.IKernelConnection;
  }

  /** Send a request as a cell does. */
  run(code: string, cell: JSONObject = {}): JSONObject | undefined {
    this.connection.requestExecute({ code }, false, cell);
    return this.sent.at(-1)?.metadata;
  }
}

function withResolver() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>(settle => {
    resolve = settle;
  });
  return { promise, resolve };
}
