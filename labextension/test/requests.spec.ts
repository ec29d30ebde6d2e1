import { describe, expect, it } from 'vitest';

import { Requests } from '../src/requests';
import { KernelStandIn } from './kernel';

function watched() {
  const kernel = new KernelStandIn();
  const requests = new Requests();
  requests.watch(kernel.connection, () => 'a.ipynb');
  return { kernel, requests };
}

describe('the metadata of execute requests', () => {
  it('stay as they are where nobody adds to them', () => {
    const { kernel } = watched();
    const cell = { cellId: 'c', tags: ['x'] };
    expect(kernel.run('1', cell)).toEqual(cell);
  });

  it('hold what the contributors give, beside what the cell had', () => {
    const { kernel, requests } = watched();
    requests.add({ contribute: ({ code }) => ({ one: code }) });
    requests.add({ contribute: () => null });
    requests.add({ contribute: ({ path, cellId }) => ({ path, cellId }) });
    expect(kernel.run('1', { cellId: 'c' })).toEqual({
      cellId: 'c',
      jupyter_schedule: { one: '1', path: 'a.ipynb', cellId: 'c' }
    });
  });

  it('keep the identity of a follow-up cell and nothing else a file puts there', () => {
    const { kernel } = watched();
    const identity = { session_id: 's-1', followup_id: 'followup-1' };
    const forged = { ...identity, lease: 1, time_zone: 'Asia/Tokyo' };
    expect(kernel.run('1', { jupyter_schedule: forged })).toEqual({
      jupyter_schedule: identity
    });
    expect(kernel.run('1', { jupyter_schedule: { lease: 1 } })).toEqual({});
  });

  it('are touched once, however often a kernel is announced', () => {
    const { kernel, requests } = watched();
    requests.watch(kernel.connection, () => 'b.ipynb');
    let calls = 0;
    requests.add({
      contribute: () => {
        calls += 1;
        return null;
      }
    });
    kernel.run('1');
    expect(calls).toBe(1);
  });
});
