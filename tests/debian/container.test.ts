/** deploy/Dockerfile and deploy/unbound/Dockerfile, built step by step and started as containers. */
import type { ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Builder, type Image, instructionsOf, runIn, start } from './dockerfile.ts';
import { freePort, ROOT } from './machine.ts';

const dir = mkdtempSync(join(tmpdir(), 'mailvet-container-'));
const volumes = join(dir, 'volumes');
const children: ChildProcess[] = [];
let image: Image;
let resolver: Image;

beforeAll(() => {
  chmodSync(dir, 0o755);
  const builder = new Builder(dir);
  image = builder.build(join(ROOT, 'deploy/Dockerfile'), ROOT);
  resolver = builder.build(join(ROOT, 'deploy/unbound/Dockerfile'), join(ROOT, 'deploy/unbound'));
  // A new volume has the owner and the mode of the folder in the image.
  mkdirSync(join(volumes, 'data'), { recursive: true });
  chmodSync(volumes, 0o755);
  chownSync(join(volumes, 'data'), 10_001, 10_001);
  chmodSync(join(volumes, 'data'), 0o700);
});
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

function container(of: Image, command?: readonly string[], env?: Record<string, string>) {
  const child = start(of, volumes, command, env);
  children.push(child);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, ended, output: () => output };
}

describe('the image of the service', () => {
  it('has Node 24 once, and neither sources nor packages for development', () => {
    const opt = join(image.root, 'opt/mailvet');
    expect(readdirSync(opt).sort()).toEqual(
      ['LICENSE', 'NOTICE', 'bin', 'data', 'dist', 'migrations', 'node_modules', 'package.json'].sort(),
    );
    const packages = readdirSync(join(opt, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(packages.filter((name) => /^node(-|$)/.test(name))).toEqual([]);
    expect(existsSync(join(opt, 'node_modules/typescript'))).toBe(false);
  });

  it('runs without privileges, on a read-only file system, and ends with 0 on SIGTERM', async () => {
    const port = await freePort();
    const env = { MAILVET_HOST: '127.0.0.1', MAILVET_PORT: `${port}`, MAILVET_DRAIN_SECONDS: '0' };
    expect(image.user).not.toBe('root');
    const { child, ended, output } = container(image, undefined, env);
    const healthy = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        (reply) => reply.status,
        () => 0,
      );
    await expect.poll(healthy, { timeout: 60_000, interval: 200, message: output() }).toBe(200);

    const [program = '', ...probe] = image.healthcheck;
    expect(runIn(image, [program, ...probe], env)).toBe(0);
    expect(runIn(image, [program, ...probe], { ...env, MAILVET_PORT: '1' })).toBe(1);

    const created = container(image, ['account', 'create', '--name', 'Shop', '--credits', '10', '--json'], env);
    expect(await created.ended, created.output()).toBe(0);
    const { id } = JSON.parse(created.output());
    const key = container(image, ['key', 'create', '--account', id, '--name', 'Form', '--json'], env);
    expect(await key.ended, key.output()).toBe(0);
    const reply = await fetch(`http://127.0.0.1:${port}/v1/verify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${JSON.parse(key.output()).key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'jane@@example.com' }),
    });
    expect(await reply.json()).toMatchObject({ status: 'bad', reason: 'invalid_format' });
    expect(readdirSync(join(volumes, 'data'))).toContain('mailvet.db');

    child.kill('SIGTERM');
    expect(await ended, output()).toBe(0);
  });
});

it('the image of the resolver starts without privileges and answers', async () => {
  const { child, ended, output } = container(resolver);
  const { Resolver } = await import('node:dns/promises');
  const dns = new Resolver({ timeout: 1000, tries: 1 });
  dns.setServers(['127.0.0.1:5353']);
  // From the resolver itself, so that no network is needed.
  const answer = () => dns.resolve4('localhost').catch((error: Error) => error.message);
  await expect.poll(answer, { timeout: 30_000, interval: 200, message: output() }).toEqual(['127.0.0.1']);
  child.kill('SIGTERM');
  expect(await ended, output()).toBe(0);
});

it('instructions of a Dockerfile may be continued on the next line', () => {
  expect(instructionsOf('# base\nFROM a AS b\nRUN x \\\n  && y\n')).toEqual([
    ['FROM', 'a AS b'],
    ['RUN', 'x    && y'],
  ]);
});
