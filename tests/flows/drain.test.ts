import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Account, Store } from '../../src/store/store.ts';
import { startBalancer } from '../lab/balancer.ts';
import { type Running, startProcess } from '../lab/process.ts';
import { startLoad } from './load.ts';
import { openSetting, type Setting } from './setting.ts';

/** Half the usual 3 s and 10 s; the port alone stays open for a second, which is less than the interval. */
const POLL_MS = 1_500;
const DRAIN_SECONDS = '5';
/** A drain that nobody waits to the end of. */
const LONG = '600';
const CREDITS = 1_000_000;

let setting: Setting;
let store: Store;
let account: Account;
let key: string;
let environment: Setting['environment'];

beforeAll(async () => {
  setting = await openSetting({ credits: CREDITS });
  ({ store, account, environment } = setting);
  key = setting.key.value;
});
afterAll(() => setting.close());

const start = (drain: string, flags?: readonly string[]): Promise<Running> =>
  startProcess({ ...environment, MAILVET_DRAIN_SECONDS: drain }, flags);

describe('rolling restarts behind a balancer', () => {
  it('lose no request', { timeout: 180_000 }, async () => {
    const balancer = await startBalancer(POLL_MS);
    const join = async () => {
      const node = await start(DRAIN_SECONDS);
      balancer.add(node.url);
      await balancer.polled(node.url, true);
      return node;
    };
    const nodes = [await join(), await join()];
    const load = startLoad(balancer.url, key, { clients: 8, max: 100_000 });
    for (const [i, node] of nodes.entries()) {
      // The worst moment: the balancer has just seen that the node is ready.
      await balancer.polled(node.url, true);
      expect(await node.end('SIGTERM')).toBe(0);
      balancer.remove(node.url);
      nodes[i] = await join();
    }
    await load.stop();
    await Promise.all(nodes.map((node) => node.end('SIGKILL')));
    await balancer.close();
    expect([load.broken, load.others]).toEqual([0, []]);
    expect(load.acknowledged.length).toBeGreaterThan(100);
    expect(await store.accounts.audit()).toEqual([]);
    const spent = load.acknowledged.reduce((sum, { credits }) => sum + credits, 0);
    expect((await store.accounts.get(account.id))!.balance).toBe(CREDITS - spent);
  });
});

describe('a draining node', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const get = async (node: Running, path: string): Promise<IncomingMessage> => {
    const call = request(node.url + path, { agent }).end();
    const [reply] = (await once(call, 'response')) as [IncomingMessage];
    reply.resume();
    await once(reply, 'end');
    return reply;
  };

  it('is not ready, serves as before, and ends the drain at the second signal', async () => {
    const node = await start(LONG);
    const exited = once(node.child, 'exit');
    expect(await get(node, '/readyz')).toMatchObject({ statusCode: 200 });
    node.child.kill('SIGTERM');
    await expect.poll(async () => (await get(node, '/readyz')).statusCode, { timeout: 30_000 }).toBe(503);
    // Longer than the port of a node without a drain stays open.
    await after(1_500);
    expect(await get(node, '/healthz')).toMatchObject({ statusCode: 200, headers: { connection: 'keep-alive' } });
    node.child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    agent.destroy();
  });

  it('without requests of others, a worker, does not drain', async () => {
    const node = await start(LONG, ['--role', 'worker']);
    expect(await node.end('SIGTERM')).toBe(0);
  });

  // `script` of util-linux runs it on a pseudoterminal; that of other systems has other flags.
  it.runIf(process.platform === 'linux')(
    'ends at once when Ctrl-C is pressed at its terminal',
    { timeout: 120_000 },
    async () => {
      const cli = fileURLToPath(new URL('../../bin/mailvet.mjs', import.meta.url));
      const { PATH = '', HOME = '' } = process.env;
      const command = `exec '${process.execPath}' '${cli}' serve --port 0`;
      const terminal = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
        env: { PATH, HOME, ...environment, MAILVET_DRAIN_SECONDS: LONG },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const exited = once(terminal, 'exit');
      let shown = '';
      terminal.stdout.on('data', (text) => (shown += text));
      await expect.poll(() => shown, { timeout: 60_000 }).toMatch(/listening on/);
      terminal.stdin.write('\x03');
      expect(await exited).toEqual([0, null]);
    },
  );
});
