/** The service behind the proxies of deploy/ and docs/operating.md: real Caddy, real nginx. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { UNPACKED } from '../../scripts/debian-packages.mjs';
import { type Person, person } from '../lab/person.ts';
import { samplesOf } from '../lab/samples.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { freePort, ROOT } from './machine.ts';

/** Where the client is; all of 127.0.0.0/8 is loopback. */
const CLIENT = '127.0.0.9';

interface Proxy {
  readonly program: string;
  /** Arguments and environment, in front of the service at `node` (host:port). */
  readonly setUp: (dir: string, port: number, node: string) => { args: string[]; env: Record<string, string> };
}

const PROXIES: Readonly<Record<string, Proxy>> = {
  Caddy: {
    program: join(UNPACKED, 'caddy/usr/bin/caddy'),
    setUp: (dir, port, node) => ({
      args: ['run', '--config', join(ROOT, 'deploy/caddy/Caddyfile'), '--adapter', 'caddyfile'],
      env: {
        HOME: dir,
        XDG_DATA_HOME: dir,
        XDG_CONFIG_HOME: dir,
        MAILVET_SITE: `http://:${port}`,
        MAILVET_NODES: node,
      },
    }),
  },
  nginx: {
    program: join(UNPACKED, 'nginx/usr/sbin/nginx'),
    setUp: (dir, port, node) => {
      const sample = samplesOf('docs/operating.md').find(({ language }) => language === 'nginx')?.code ?? '';
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${dir}/${name};`,
      );
      const server = `server { listen 127.0.0.1:${port}; ${sample.replace('127.0.0.1:8025', node)} }`;
      const lines = [
        'daemon off;',
        'master_process off;',
        `pid ${dir}/pid;`,
        'error_log stderr;',
        'events {}',
        `http { access_log off; ${paths.join(' ')} ${server} }`,
      ];
      writeFileSync(join(dir, 'nginx.conf'), lines.join('\n'));
      return { args: ['-p', dir, '-c', join(dir, 'nginx.conf')], env: {} };
    },
  },
};

describe.each(Object.entries(PROXIES))('behind %s', (_, { program, setUp }) => {
  const dir = mkdtempSync(join(tmpdir(), 'mailvet-proxy-'));
  let lab: Lab;
  let proxy: ChildProcess;
  let url: string;
  let member: Member;
  let owner: Person;

  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    lab = await startLab({ MAILVET_PUBLIC_URL: url, MAILVET_TRUSTED_PROXIES: '127.0.0.1' });
    const { args, env } = setUp(dir, port, new URL(lab.url).host);
    proxy = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [proxy.stdout, proxy.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    const ready = () =>
      fetch(`${url}/readyz`).then(
        ({ status }) => status,
        () => output,
      );
    await vi.waitFor(async () => expect(await ready()).toBe(200), { timeout: 30_000, interval: 100 });
    member = await lab.member({ credits: 1000 });
    // Signs in through the proxy.
    owner = await person({ url, store: lab.store }, { account: member.account.id });
  });
  afterAll(async () => {
    proxy.kill('SIGKILL');
    await lab.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function call(method: string, path: string, { type = 'application/json', body = '', headers = {} } = {}) {
    const sent = { authorization: `Bearer ${member.key}`, 'content-type': type, ...headers };
    const asked = request(url + path, { method, localAddress: CLIENT, headers: sent });
    asked.end(body);
    const [reply]: IncomingMessage[] = await once(asked, 'response');
    return { status: reply?.statusCode, text: ((await reply?.setEncoding('utf8').toArray()) ?? []).join('') };
  }

  it('the caller is the client, whatever it claims to be', async () => {
    for (const [email, headers] of [
      ['a@null-mx.com', {}],
      ['b@null-mx.com', { 'x-forwarded-for': '192.0.2.1, 127.0.0.1' }],
    ] as const) {
      const { status } = await call('POST', '/v1/verify', { body: JSON.stringify({ email }), headers });
      expect(status).toBe(200);
      const { json } = await owner.call('GET', `/dashboard/accounts/${member.account.id}/log?q=${email}`);
      expect([email, json.entries[0].client_ip]).toEqual([email, CLIENT]);
    }
  });

  it('the dashboard and the guide are served, with their policies and sessions', async () => {
    const page = await fetch(`${url}/`);
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      200,
      expect.stringContaining('script-src'),
    ]);
    const script = /<script type="module" [^>]*src="([^"]+)"/.exec(await page.text())?.[1] ?? '';
    expect((await fetch(url + script)).headers.get('content-type')).toMatch(/^text\/javascript/);
    expect((await fetch(`${url}/guide/`)).status).toBe(200);
    expect((await owner.call('POST', '/dashboard/sign-out')).status).toBe(200);
  });

  it('a list of more than a megabyte is uploaded, and its results downloaded', async () => {
    const rows = 300;
    const note = 'x'.repeat(4000);
    const body = `email,note\n${Array.from({ length: rows }, (_, n) => `${n}@null-mx.com,${note}`).join('\n')}`;
    expect(body.length).toBeGreaterThan(1024 ** 2);
    const uploaded = await call('POST', '/v1/lists', { type: 'text/csv', body });
    expect([uploaded.status, uploaded.text]).toEqual([201, expect.stringContaining(`"total":${rows},`)]);
    const path = `/v1/lists/${JSON.parse(uploaded.text).id}`;
    const state = async () => JSON.parse((await call('GET', path)).text).status;
    await expect.poll(state, { timeout: 120_000, interval: 500 }).toBe('completed');
    const { status, text } = await call('GET', `${path}/results`);
    expect([status, text.trimEnd().split('\n').length]).toEqual([200, rows + 1]);
    expect(text.length).toBeGreaterThan(body.length);
  });
});
