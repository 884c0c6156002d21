/** The samples of docs/recipes/monthly.md and docs/recipes/slack.md, as they stand there. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../scripts/fresh.mjs';
import { pathWithMailvet } from '../lab/process.ts';
import { samplesOf } from '../lab/samples.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

const run = promisify(execFile);
let lab: Lab;
let member: Member;
let dir: string;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member();
  dir = mkdtempSync(join(tmpdir(), 'mailvet-recipes-'));
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await lab.close();
});

describe('verifying every month', () => {
  it('leaves a file of the dead addresses and no list, and goes on after an interruption', async () => {
    const [script, crontab] = samplesOf('docs/recipes/monthly.md');
    expect(crontab?.code).toMatch(/^(\S+ ){5}\. \/etc\/reverify\.env && reverify \/var\/lib\/reverify psql /);
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'reverify'), script?.code ?? '', { mode: 0o755 });
    const folder = join(dir, 'months');
    mkdirSync(folder);
    const addresses = 'id,email\n1,ann@good.com\n2,bob@null-mx.com\n';
    writeFileSync(join(dir, 'customers.csv'), addresses);
    const env = {
      PATH: `${bin}:${pathWithMailvet()}`,
      NODE_NO_WARNINGS: '1',
      MAILVET_URL: lab.url,
      MAILVET_KEY: member.key,
    };
    const reverify = (...command: string[]) => run(join(bin, 'reverify'), [folder, ...command], { env });
    const customers = ['cat', join(dir, 'customers.csv')];
    // Nothing is submitted where the customers cannot be read.
    await expect(reverify('false')).rejects.toThrow();
    expect((await member.call('GET', '/v1/lists')).json.lists).toEqual([]);

    // Killed behind the submission: the list of the month is known.
    const submitted = await member.call('POST', '/v1/lists?name=before', addresses, { 'content-type': 'text/csv' });
    const month = new Date().toISOString().slice(0, 7);
    writeFileSync(join(folder, `${month}.csv`), addresses);
    writeFileSync(join(folder, `${month}.list`), JSON.stringify(submitted.json));
    await reverify(...customers);
    const dead = readFileSync(join(folder, `${month}.undeliverable.csv`), 'utf8')
      .trim()
      .split('\n');
    expect(dead).toEqual([expect.stringMatching(/^id,email,/), expect.stringMatching(/^2,bob@null-mx\.com,/)]);
    expect((await member.call('GET', '/v1/lists')).json.lists).toEqual([]);

    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    await reverify(...customers);
    expect(readdirSync(folder)).toEqual([`${month}.undeliverable.csv`]);
    // Once a month.
    await reverify('false');
    expect((await member.call('GET', '/v1/lists')).json.lists).toEqual([]);
  });
});

describe('alerts in Slack', () => {
  let slack: Server;
  let answer = 200;
  const said: string[] = [];
  let forwarder: ChildProcess;
  let url: string;
  let id: string;
  beforeAll(async () => {
    const receive = async (request: IncomingMessage, reply: ServerResponse) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      if (answer === 200) said.push(JSON.parse(Buffer.concat(chunks).toString()).text);
      reply.writeHead(answer).end();
    };
    slack = createServer((request, reply) => void receive(request, reply));
    await new Promise<void>((resolve) => slack.listen(0, '127.0.0.1', resolve));
    // Made with its secret before the program runs, which then has to be where the webhook says.
    const port = await new Promise<number>((resolve) => {
      const free = createServer().listen(0, '127.0.0.1', () => {
        const address = free.address() as AddressInfo;
        free.close(() => resolve(address.port));
      });
    });
    url = `http://127.0.0.1:${port}`;
    const { json } = await member.call('POST', '/v1/webhooks', { url: `${url}/`, events: ['*'] });
    id = json.id;
    const program = join(dir, 'forward.mjs');
    const [sample] = samplesOf('docs/recipes/slack.md');
    const client = JSON.stringify(join(ROOT, 'sdk/src/index.ts'));
    writeFileSync(program, (sample?.code ?? '').replace("'@mailvet/client'", client));
    forwarder = spawn(process.execPath, [program], {
      env: {
        PATH: process.env.PATH ?? '',
        NODE_NO_WARNINGS: '1',
        PORT: String(port),
        MAILVET_WEBHOOK_SECRET: json.secret,
        SLACK_WEBHOOK_URL: `http://127.0.0.1:${(slack.address() as AddressInfo).port}/services/T/B/x`,
      },
    });
    if (forwarder.stdout !== null) await once(createInterface({ input: forwarder.stdout }), 'line');
  });
  afterAll(() => {
    forwarder.kill('SIGKILL');
    slack.close();
  });

  const ping = async () => (await member.call('POST', `/v1/webhooks/${id}/test`)).json.status;

  it('posts what happens, escaped', async () => {
    expect(await ping()).toBe('delivered');
    expect(said).toEqual(['Mailvet reaches this channel.']);
    await lab.store.keys.create(member.account.id, {
      name: '<!channel> & co',
      hash: 'h',
      lastFour: 'abcd',
      allowIps: [],
    });
    await expect.poll(() => said.at(-1)).toBe('An API key was created: &lt;!channel&gt; &amp; co.');
  });

  it('has an event sent again where Slack is out of order, and posts nothing that is not signed', async () => {
    answer = 503;
    expect(await ping()).toBe('failed');
    answer = 200;
    const before = said.length;
    expect((await fetch(url, { method: 'POST', body: '{"type": "ping"}' })).status).toBe(400);
    expect(said.length).toBe(before);
  });
});
