import { describe, expect, it } from 'vitest';

import { Requests } from '../src/requests';
import { Zone } from '../src/zone';
import { KernelStandIn } from './kernel';

function setUp(live: string[] = []) {
  const zones = ['Asia/Shanghai'];
  const kernel = new KernelStandIn();
  const requests = new Requests();
  const paths = new Set(live);
  requests.watch(kernel.connection, () => 'a.ipynb');
  requests.add(
    new Zone({ isLive: path => paths.has(path) }, () => zones.at(-1) ?? null)
  );
  return { zones, kernel, paths };
}

const shanghai = { jupyter_schedule: { time_zone: 'Asia/Shanghai' } };

describe("the browser's zone", () => {
  it('goes with every request of a live notebook', () => {
    const { kernel } = setUp(['a.ipynb']);
    expect(kernel.run('1 + 1')).toEqual(shanghai);
  });

  it('stays in the browser for any other notebook', () => {
    const { kernel } = setUp(['b.ipynb']);
    expect(kernel.run('1 + 1')).toEqual({});
  });

  it('is sampled for every request', () => {
    const { kernel, zones } = setUp(['a.ipynb']);
    kernel.run('1');
    zones.push('Asia/Tokyo');
    expect(kernel.run('1')).toEqual({
      jupyter_schedule: { time_zone: 'Asia/Tokyo' }
    });
  });

  it('is left out where a browser has none', () => {
    const { kernel, zones } = setUp(['a.ipynb']);
    zones.length = 0;
    expect(kernel.run('1')).toEqual({});
  });

  it('goes with a cell that names the package, and with those queued behind it', async () => {
    const { kernel } = setUp();
    expect(kernel.run('%load_ext jupyter_schedule')).toEqual(shanghai);
    expect(kernel.run('%%agent\nhello')).toEqual(shanghai);
    kernel.sent[0]?.finish();
    await Promise.resolve();
    expect(kernel.run('1 + 1')).toEqual({});
  });

  it('stops going when a notebook is not live any more', () => {
    const { kernel, paths } = setUp(['a.ipynb']);
    paths.clear();
    expect(kernel.run('1')).toEqual({});
  });
});
