import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, spawnCli } from '../lab/process.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let lab: Lab;
let owner: Member;
let dir: string;
beforeAll(async () => {
  // No work is done on lists, so that they stay as the test has them.
  lab = await startLab({ MAILVET_ROLE: 'api' });
  owner = await lab.member({ credits: 1_000, rateLimit: 100_000 });
  dir = mkdtempSync(join(tmpdir(), 'mailvet-cli-lists-'));
  writeFileSync(join(dir, 'people.csv'), 'Name,Email\nAda,ada@good.com\nBob,bob@good.com\n');
  writeFileSync(join(dir, 'none.csv'), 'a,b\n1,2\n');
});
afterAll(async () => {
  rmSync(dir, { recursive: true });
  await lab.close();
});

const environment = (more = {}) => ({ MAILVET_URL: lab.url, MAILVET_KEY: owner.key, ...more });
const cli = (...args: string[]) => runCli(['lists', ...args], environment());
const json = async (...args: string[]) => {
  const { code, out, err } = await cli(...args, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
};
const submitted = () => json('submit', join(dir, 'people.csv'), '--level', 'smtp');

describe('mailvet lists', () => {
  it('submits, controls, downloads and deletes a list', async () => {
    const list = await submitted();
    expect(list).toMatchObject({ name: 'people.csv', status: 'running', validation_type: 'smtp', rows: { total: 2 } });
    expect(await json('pause', list.id)).toMatchObject({ status: 'paused' });
    expect(await json('resume', list.id)).toMatchObject({ status: 'running' });
    expect(await json('status', list.id)).toMatchObject({ id: list.id, credits: { held: 20 } });
    expect((await cli('status')).out).toContain(list.id);
    expect(await cli('delete', list.id)).toMatchObject({ code: 1, err: expect.stringMatching(/^mailvet: /) });
    expect(await json('cancel', list.id)).toMatchObject({ status: 'cancelled', credits: { held: 0 } });
    const file = join(dir, 'results.csv');
    expect(await cli('download', list.id, '--out', file)).toMatchObject({
      code: 0,
      err: 'mailvet: 2 rows written; the list has 2 rows.\n',
    });
    expect(readFileSync(file, 'utf8')).toMatch(/^Name,Email,mailvet_status/);
    expect((await cli('download', list.id, '--format', 'jsonl')).out.trim().split('\n')).toHaveLength(2);
    await json('delete', list.id);
    expect(await cli('status', list.id)).toMatchObject({ code: 1, out: '' });
  });

  it('takes --retry-minutes by its earlier name, --patience', async () => {
    const people = join(dir, 'people.csv');
    for (const flag of ['--retry-minutes', '--patience'])
      expect(await json('submit', people, '--no-start', flag, '5')).toMatchObject({ retry_minutes: 5 });
    expect(await cli('submit', people, '--patience', 'x')).toMatchObject({ code: 2, err: /--patience/ });
    const help = await cli('submit', '--help');
    expect([help.out.includes('--retry-minutes'), help.out.includes('--patience')]).toEqual([true, false]);
  });

  it.each([
    [['--validation-type', 'smtp'], 'smtp'],
    [['--smtp'], 'smtp'],
    [[], 'mx'],
  ] as const)('takes the level by its other names: %j', async (flags, level) => {
    const list = await json('submit', join(dir, 'people.csv'), '--no-start', ...flags);
    expect(list).toMatchObject({ status: 'ready', validation_type: level });
    await json('delete', list.id);
  });

  it('submits a list whose mailboxes count once, and changes that until it starts', async () => {
    const file = join(dir, 'mailboxes.csv');
    writeFileSync(file, 'email;x\nJ.Doe@gmail.com;a\njdoe+x@gmail.com;b\n');
    const list = await json('submit', file, '--no-start', '--dedupe', 'mailbox', '--columns', 'email');
    expect(list).toMatchObject({ dedupe: 'mailbox', rows: { addresses: 1, duplicates: 1 }, credits: { price: 1 } });
    const { out } = await cli('status', list.id);
    expect(out).toMatch(/^1 address in 2 rows, those of one mailbox counted once, level mx$/m);
    expect(await json('read', list.id, '--dedupe', 'address')).toMatchObject({
      dedupe: 'address',
      credits: { price: 2 },
    });
    expect(await json('read', list.id, '--columns', '1')).toMatchObject({
      dedupe: 'address',
      read: { column: 'email' },
    });
    expect(await cli('submit', file, '--dedupe', 'person')).toMatchObject({ code: 2 });
  });

  it('submits a list for a policy, which also decides of addresses without a list', async () => {
    const policy = { signals: { role: 'review' }, validation_type: 'smtp' };
    expect((await owner.call('PUT', '/v1/policies/mine', policy)).status).toBe(201);
    const people = join(dir, 'people.csv');
    const list = await json('submit', people, '--policy', 'mine', '--no-start');
    expect(list).toMatchObject({ policy: 'mine', validation_type: 'smtp' });
    expect((await cli('status', list.id)).out).toMatch(/level smtp, policy mine$/m);
    expect(await cli('submit', people, '--policy', 'none')).toMatchObject({ code: 1, err: /policy/ });
    const more = environment({
      MAILVET_DNS_SERVERS: `${lab.dns.address}:${lab.dns.port}`,
      MAILVET_DNS_CONTROL_NAMES: 'none',
    });
    const verify = (name: string) => runCli(['verify', '--json', 'info@null-mx.com', '--policy', name], more);
    expect(JSON.parse((await verify('mine')).out)).toMatchObject({
      decision: { action: 'reject', because: ['undeliverable'] },
    });
    expect(await verify('none')).toMatchObject({ code: 1, out: '' });
  });

  it('submits what comes through a named pipe, such as <(…) of a shell', async () => {
    const pipe = join(dir, 'people.pipe');
    execFileSync('mkfifo', [pipe]);
    const writing = writeFile(pipe, 'x@good.com\ny@good.com\n');
    expect(await json('submit', pipe, '--no-start')).toMatchObject({ status: 'ready', rows: { addresses: 2 } });
    await writing;
  });

  it('keeps a list running when its watch is interrupted, and says how to look again', async () => {
    const { id } = await submitted();
    const { child, done } = spawnCli(
      ['lists', 'submit', '-', '--watch', '--name', 'stdin'],
      environment(),
      'x@good.com\n',
    );
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGINT');
    const { code, out, err } = await done;
    const watched = /lst_\w+/.exec(out)?.[0] ?? '';
    expect([code, err]).toEqual([
      130,
      `The list keeps running. To look at it: mailvet lists status ${watched} --watch\n`,
    ]);
    expect(await json('status', watched)).toMatchObject({ status: 'running', name: 'stdin' });
    for (const one of [id, watched]) await json('cancel', one);
  });

  it('says which address it asked where the service knows no such path', async () => {
    const elsewhere = environment({ MAILVET_URL: `${lab.url}/app` });
    const err = expect.stringContaining(`MAILVET_URL is ${lab.url}/app`);
    expect(await runCli(['lists', 'status'], elsewhere)).toMatchObject({ code: 1, out: '', err });
  });

  it.each([
    [{ MAILVET_URL: 'http://127.0.0.1:9' }, 1, /cannot reach http:\/\/127\.0\.0\.1:9\. .*MAILVET_URL/],
    [{ MAILVET_KEY: `mv_live_${'x'.repeat(32)}` }, 1, /Check MAILVET_KEY/],
    [{ MAILVET_KEY: '' }, 2, /set MAILVET_KEY/],
  ])('says what is wrong with %o', async (more, code, err) => {
    const ran = await runCli(['lists', 'submit', join(dir, 'people.csv')], environment(more));
    expect(ran).toMatchObject({ code, out: '', err: expect.stringMatching(err) });
  });

  it('says that a download is incomplete whose connection breaks', async () => {
    const breaking = createServer((_request, reply) => {
      reply.writeHead(200, { 'content-type': 'text/csv', 'content-length': 1_000 });
      reply.write('email\r\n', () => reply.destroy());
    });
    await once(breaking.listen(0, '127.0.0.1'), 'listening');
    const { port } = breaking.address() as AddressInfo;
    const ran = await runCli(['lists', 'download', 'lst_1'], environment({ MAILVET_URL: `http://127.0.0.1:${port}` }));
    breaking.close();
    expect(ran).toMatchObject({ code: 1, err: expect.stringMatching(/download ended early.* incomplete/) });
  });

  it('says why a file is not accepted, and why a list is not started', async () => {
    expect(await cli('submit', join(dir, 'none.csv'))).toMatchObject({ code: 1, err: expect.stringMatching(/column/) });
    expect(await cli('submit', join(dir, 'missing.csv'))).toMatchObject({
      code: 2,
      err: expect.stringMatching(/cannot read .*missing\.csv \(ENOENT\)/),
    });
    expect(await cli('submit', dir)).toMatchObject({ code: 2, err: expect.stringMatching(/is a folder/) });
    const offline = environment({ MAILVET_URL: 'http://127.0.0.1:9' });
    expect((await runCli(['lists', 'submit', join(dir, 'missing.csv')], offline)).err).toMatch(/missing\.csv/);
    const { id } = await submitted();
    expect(await cli('download', id, '--out', join(dir, 'none', 'x.csv'))).toMatchObject({
      code: 2,
      err: expect.stringMatching(/cannot write --out .*x\.csv \(ENOENT\)/),
    });
    const poor = await lab.member({ credits: 1 });
    const ran = await runCli(['lists', 'submit', join(dir, 'people.csv')], environment({ MAILVET_KEY: poor.key }));
    expect(ran).toMatchObject({ code: 1, err: expect.stringMatching(/was not started: .*credits/) });
  });
});
