/** `npm run up` in a clean clone on a machine with only Node and npm; then again, and again while it is running. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsLab, zone } from '../lab/dns.ts';
import { cloneTo, freePort, freshMachine, type Machine, type Running, requestOf } from './machine.ts';

const MINUTES = 60_000;
let machine: Machine;
let dns: DnsLab;
let clone: string;
let env: Record<string, string>;
let port: number;

beforeAll(async () => {
  machine = freshMachine();
  clone = join(machine.dir, 'clone');
  cloneTo(clone);
  // The printed request verifies an address at a real provider; this zone stands in for its DNS.
  const mx = 'gmail-smtp-in.l.google.com';
  dns = await zone({ 'gmail.com': { MX: [[5, mx]] }, [mx]: { A: ['142.250.102.27'] } });
  port = await freePort();
  env = {
    MAILVET_PORT: `${port}`,
    MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILVET_DNS_CONTROL_NAMES: 'none',
    npm_config_prefer_offline: 'true',
  };
});
afterAll(async () => {
  machine.remove();
  await dns.close();
});

/**
 * npm is killed by the signal itself, so its exit code means nothing; SQLite removes its log when a store is closed.
 */
async function stopped(up: Running, signal: NodeJS.Signals): Promise<void> {
  const url = (await up.printed(/http:\/\/127\.0\.0\.1:\d+/, 0))[0];
  up.signal(signal, 'group');
  await up.ended;
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  expect(readdirSync(join(clone, 'data')).filter((name) => name.startsWith('mailvet.db'))).toEqual(['mailvet.db']);
}

/** The page with its script, and the setup link. */
async function opensDashboard(link: string): Promise<void> {
  const { origin, pathname, hash } = new URL(link);
  expect(pathname).toBe('/setup');
  const page = await fetch(`${origin}/`);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const script = /<script type="module" [^>]*src="([^"]+)"/.exec(await page.text())?.[1];
  expect((await fetch(origin + script!)).headers.get('content-type')).toMatch(/^text\/javascript/);
  const owner = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery staple' };
  const setup = () =>
    fetch(`${origin}/dashboard/setup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: hash.replace('#token=', ''), ...owner }),
    });
  expect((await setup()).status).toBe(201);
  expect((await setup()).status).toBe(410);
}

describe('npm run up', () => {
  it('installs, builds, starts, and prints requests that work', async () => {
    expect(existsSync(join(clone, 'node_modules'))).toBe(false);
    const up = machine.start(clone, 'npm', ['run', 'up'], env);
    const [, test, live] = await up.printed(
      /^(curl [\s\S]*?-d '[^']*')$[\s\S]*?^(curl [\s\S]*?-d '[^']*')$/m,
      8 * MINUTES,
    );
    const replyTo = async (curl = '') => {
      const { url, init } = requestOf(curl);
      const reply = await fetch(url, init);
      expect(reply.status).toBe(200);
      return reply.json();
    };
    expect(await replyTo(test)).toMatchObject({ status: 'good', deliverability: 'deliverable', credits_used: 0 });
    expect(await replyTo(live)).toMatchObject({ status: 'good', validation_type: 'mx', credits_used: 1 });
    await opensDashboard((await up.printed(/^Dashboard: (\S+)$/m, 0))[1]!);

    // Again while the first is running.
    const second = await machine.run(clone, 'npm', ['run', 'up'], env);
    expect(second.code).not.toBe(0);
    expect(second.stderr).toMatch(new RegExp(`${port}[\\s\\S]*MAILVET_PORT`));
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    await stopped(up, 'SIGINT');
  });

  it('starts again on the existing store, without a second account', async () => {
    const up = machine.start(clone, 'npm', ['run', 'up'], env);
    await up.printed(/key create/, MINUTES);
    expect(up.output()).not.toMatch(/npm ci|Building|^curl|#token=/m);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    await stopped(up, 'SIGTERM');
  });

  it('passes its arguments to the service', async () => {
    const other = await freePort();
    const up = machine.start(clone, 'npm', ['run', 'up', '--', '--port', `${other}`], env);
    await up.printed(new RegExp(`127\\.0\\.0\\.1:${other}`), MINUTES);
    await stopped(up, 'SIGINT');
  });

  it('reports all invalid options at once', async () => {
    const up = await machine.run(clone, 'npm', ['run', 'up'], { ...env, MAILVET_PORT: 'x', MAILVET_LOG_LEVEL: 'loud' });
    expect(up.code).not.toBe(0);
    expect(up.stderr).toMatch(/MAILVET_PORT[\s\S]*MAILVET_LOG_LEVEL/);
  });
});
