import type { Kernel } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

import type { Future, IContributor, IRequest } from './requests';

/** A cell that names the package may attach its kernel (contract 1.2). */
const PACKAGE = 'jupyter_schedule';

/** Which notebooks belong to live sessions, as far as this tab was told. */
export interface ILiveNotebooks {
  isLive(path: string): boolean;
}

/**
 * The zone this browser is in at this moment (contract 3.10).
 *
 * Never kept: a person travels, and a laptop with them.
 */
export function sampleZone(): string | null {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions() as {
    timeZone?: string;
  };
  return timeZone ?? null;
}

/**
 * Tells the kernel, prompt by prompt, which zone the browser is in.
 *
 * The zone goes with requests of live sessions' notebooks, with a request whose source names the
 * package, and with those queued behind such a one: when they run, it will have attached.
 */
export class Zone implements IContributor {
  constructor(live: ILiveNotebooks, sample: () => string | null = sampleZone) {
    this._live = live;
    this._sample = sample;
  }

  contribute(request: IRequest): JSONObject | null {
    if (!this.concerns(request)) {
      return null;
    }
    const zone = this._sample();
    return zone === null ? null : { time_zone: zone };
  }

  sent(request: IRequest, future: Future): void {
    if (!request.code.includes(PACKAGE)) {
      return;
    }
    const { kernel } = request;
    const attaching = this._attaching.get(kernel) ?? new Set();
    this._attaching.set(kernel, attaching.add(future));
    const over = () => {
      attaching.delete(future);
    };
    future.done.then(over, over);
  }

  /** Whether the zone belongs to this request. */
  concerns(request: IRequest): boolean {
    return (
      request.code.includes(PACKAGE) ||
      (this._attaching.get(request.kernel)?.size ?? 0) > 0 ||
      (request.path !== null && this._live.isLive(request.path))
    );
  }

  private readonly _live: ILiveNotebooks;
  private readonly _sample: () => string | null;
  private readonly _attaching = new WeakMap<
    Kernel.IKernelConnection,
    Set<Future>
  >();
}
