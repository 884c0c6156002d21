/**
 * What a newcomer does on a machine with only Node and npm: a clean clone, `npm run up` as README.md and
 * docs/quickstart.md have it, the printed requests, then a form, a list and a webhook with the samples of
 * docs/quickstart.md and docs/webhooks.md. Then `npm run up` again, and again while it is running.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsLab, zone } from '../lab/dns.ts';
import { samplesOf } from '../lab/samples.ts';
import { cloneTo, freePort, freshMachine, type Machine, type Running, requestOf } from './machine.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** `npm test` prints it in its summary. */
    figure?: string;
  }
}

const MINUTES = 60_000;
let machine: Machine;
let dns: DnsLab;
let clone: string;
let env: Record<string, string>;
let port: number;

beforeAll(async () => {
  machine = freshMachine();
  // The name that the quickstart gives it.
  clone = join(machine.dir, 'mailvet');
  cloneTo(clone);
  // The printed request verifies an address at a real provider; this zone stands in for its DNS.
  const mx = 'gmail-smtp-in.l.google.com';
  dns = await zone({ 'gmail.com': { MX: [[5, mx]] }, [mx]: { A: ['142.250.102.27'] } });
  port = await freePort();
  env = {
    MAILVET_PORT: `${port}`,
    MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILVET_DNS_CONTROL_NAMES: 'none',
    // For the webhook's receiver, which is on loopback.
    MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    npm_config_prefer_offline: 'true',
    // As on many servers: the build needs packages for development, and the service one that is optional.
    NODE_ENV: 'production',
    npm_config_omit: 'dev optional',
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

/** The sample of a page that begins so, with the service's address. */
function sample(page: string, start: string): string {
  const found = samplesOf(page).find(({ code }) => code.startsWith(start));
  if (found === undefined) throw new Error(`${page} has no sample that begins with ${start}`);
  return found.code.replaceAll('http://127.0.0.1:8025', `http://127.0.0.1:${port}`);
}

async function succeeds(cwd: string, command: string, more: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await machine.run(cwd, 'sh', ['-ec', command], { ...env, ...more });
  expect([command, code, code === 0 ? '' : stderr]).toEqual([command, 0, '']);
  return stdout;
}

/** Guards a form, receives a webhook and cleans a list, in a project of one's own beside the clone. */
async function usesIt(key: string): Promise<void> {
  const shop = join(machine.dir, 'shop');
  mkdirSync(shop);
  writeFileSync(join(shop, 'package.json'), '{"private": true, "type": "module"}');
  await succeeds(clone, sample('docs/quickstart.md', 'npm pack'));
  await succeeds(shop, sample('docs/quickstart.md', 'npm install'));
  const addresses = ['ada@example.com', 'undeliverable@example.com', 'disposable_domain@example.com'];
  const form = sample('docs/quickstart.md', 'import { guard }');
  const submit = `for (const email of ${JSON.stringify(addresses)}) console.log(Object.values(await checked(email, '203.0.113.7'))[0]);`;
  writeFileSync(join(shop, 'form.js'), `${form}\n${submit}`);
  const keys = { MAILVET_TEST_KEY: key };
  const [ada, ...others] = (await succeeds(shop, 'node form.js', keys)).trim().split('\n');
  expect([ada, others.map((text) => text.slice(0, 3))]).toEqual(['ada@example.com', ['Thi', 'Use']]);

  const hooks = await freePort();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ url: `http://127.0.0.1:${hooks}/`, events: ['list.completed'] });
  const made = await fetch(`http://127.0.0.1:${port}/v1/webhooks`, { method: 'POST', headers, body });
  const { secret } = (await made.json()) as { secret: string };
  writeFileSync(
    join(shop, 'hooks.js'),
    sample('docs/webhooks.md', 'import { createServer }').replace('3000', `${hooks}`),
  );
  const receiver = machine.start(shop, 'node', ['hooks.js'], { MAILVET_WEBHOOK_SECRET: secret });

  const submitted = await succeeds(clone, sample('docs/quickstart.md', 'printf'), keys);
  const [id = ''] = /lst_\w+/.exec(submitted) ?? [];
  await receiver.printed(/list\.completed/, MINUTES);
  receiver.signal('SIGKILL', 'process');
  const access = { MAILVET_URL: `http://127.0.0.1:${port}`, MAILVET_KEY: key };
  await succeeds(clone, `bin/mailvet.mjs lists download ${id} --only deliverable --out cleaned.csv`, access);
  const [, kept, ...rest] = readFileSync(join(clone, 'cleaned.csv'), 'utf8').trim().split('\r\n');
  expect([kept, rest]).toEqual([expect.stringMatching(/^Ada,ada@example\.com,good,deliverable/), []]);
}

describe('npm run up', () => {
  it('installs, builds, starts, and prints requests that work', async ({ task }) => {
    expect(existsSync(join(clone, 'node_modules'))).toBe(false);
    const began = performance.now();
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
    const seconds = Math.round((performance.now() - began) / 1000);
    task.meta.figure = `The first verdict with a test key came ${seconds} s after npm run up in a clean clone.`;
    expect(await replyTo(live)).toMatchObject({ status: 'good', validation_type: 'mx', credits_used: 1 });
    await opensDashboard((await up.printed(/^Dashboard: (\S+)$/m, 0))[1]!);
    await usesIt(/mv_test_\w+/.exec(test ?? '')?.[0] ?? '');

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
