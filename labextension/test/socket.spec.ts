import { createServer, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ServerConnection } from '@jupyterlab/services';
import { nullTranslator } from '@jupyterlab/translation';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket as NodeWebSocket, WebSocketServer } from 'ws';

import { PROTOCOL } from '../src/protocol';
import { pause, TabSocket } from '../src/socket';

const VERSION = '1.2.3';

/** What one test starts; all of it ends with the test. */
interface IStarted {
  readonly http: Server;
  readonly sockets: WebSocketServer | null;
  readonly requests: string[];
  readonly hellos: Record<string, unknown>[];
  readonly tab: TabSocket;
}

const started: IStarted[] = [];

async function start(
  options: { welcome?: object; hasRoute?: boolean } = {}
): Promise<IStarted> {
  const requests: string[] = [];
  const hellos: Record<string, unknown>[] = [];
  const http = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.writeHead(404).end();
  });
  const sockets =
    options.hasRoute === false ? null : new WebSocketServer({ server: http });
  sockets?.on('connection', (socket, request) => {
    requests.push(request.url ?? '');
    socket.on('message', (data: Buffer) => {
      hellos.push(JSON.parse(data.toString('utf8')) as Record<string, unknown>);
      socket.send(
        JSON.stringify({
          type: 'welcome',
          protocol: PROTOCOL,
          version: VERSION,
          ...options.welcome
        })
      );
    });
  });
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const settings = ServerConnection.makeSettings({
    baseUrl: `http://127.0.0.1:${port}/base/`,
    wsUrl: `ws://127.0.0.1:${port}/base/`,
    token: 'a secret',
    appendToken: true,
    WebSocket: NodeWebSocket as unknown as typeof WebSocket
  });
  const trans = nullTranslator.load('jupyter_schedule');
  const tab = new TabSocket({ settings, trans, version: VERSION });
  const all = { http, sockets, requests, hellos, tab };
  started.push(all);
  return all;
}

function opened(tab: TabSocket): Promise<void> {
  return new Promise(resolve => {
    tab.opened.connect(() => {
      resolve();
    });
  });
}

function mismatched(tab: TabSocket): Promise<string> {
  return new Promise(resolve => {
    tab.mismatched.connect((_, sentence) => {
      resolve(sentence);
    });
  });
}

afterEach(() => {
  vi.restoreAllMocks();
  for (const { http, sockets, tab } of started.splice(0)) {
    tab.dispose();
    sockets?.clients.forEach(client => {
      client.terminate();
    });
    sockets?.close();
    http.close();
  }
});

describe('the socket of a tab', () => {
  it('opens nothing before it is wanted, and then only one', async () => {
    const { tab, requests, hellos } = await start();
    expect(requests).toEqual([]);
    tab.open();
    tab.open();
    await opened(tab);
    expect(requests).toEqual(['/base/jupyter-schedule/tab?token=a%20secret']);
    expect(hellos).toMatchObject([
      { type: 'hello', protocol: PROTOCOL, version: VERSION }
    ]);
  });

  it('hands on the messages it knows', async () => {
    const { tab, sockets } = await start();
    tab.open();
    await opened(tab);
    const received = new Promise(resolve => {
      tab.received.connect((_, message) => {
        resolve(message);
      });
    });
    const [client] = sockets?.clients ?? [];
    client?.send('{"type": "of a newer server"}');
    client?.send('{"type": "live", "paths": ["a.ipynb"]}');
    expect(await received).toEqual({ type: 'live', paths: ['a.ipynb'] });
  });

  it('comes back under the same name when it was given up', async () => {
    const { tab, sockets, hellos } = await start();
    tab.open();
    await opened(tab);
    const again = opened(tab);
    const [client] = sockets?.clients ?? [];
    client?.close(4001);
    await again;
    expect(hellos).toHaveLength(2);
    expect(hellos[0]?.['tab_id']).toBe(hellos[1]?.['tab_id']);
  });

  it('says in one sentence that the server half is missing, and asks no more', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const { tab, requests } = await start({ hasRoute: false });
    const sentence = mismatched(tab);
    tab.open();
    expect(await sentence).toContain('pip install jupyter-schedule==1.2.3');
    const asked = requests.length;
    tab.open();
    await new Promise(resolve => setTimeout(resolve, 2 * pause(0)));
    expect([warn.mock.calls.length, requests.length]).toEqual([1, asked]);
  });

  it('names both versions where they differ, and works on', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const { tab } = await start({ welcome: { version: '9.9.9' } });
    const sentence = mismatched(tab);
    const isOpen = opened(tab);
    tab.open();
    expect(await sentence).toMatch(/1\.2\.3.*9\.9\.9/);
    await isOpen;
  });

  it('leaves a server of another protocol alone', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const { tab, sockets, hellos } = await start({
      welcome: { protocol: PROTOCOL + 1, version: '9.9.9' }
    });
    const sentence = mismatched(tab);
    tab.open();
    expect(await sentence).toContain('9.9.9');
    const [client] = sockets?.clients ?? [];
    client?.close(4000);
    await new Promise(resolve => setTimeout(resolve, 2 * pause(0)));
    expect([tab.isOpen, hellos.length]).toEqual([false, 1]);
  });

  it('waits longer after each failure, up to a minute', () => {
    expect([0, 1, 2, 7, 30].map(pause)).toEqual([
      500, 1000, 2000, 60_000, 60_000
    ]);
  });
});
