import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../lab/process.ts';

let dir: string;
let environment: Record<string, string>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mailvet-command-line-'));
  environment = { MAILVET_DATABASE_URL: `sqlite:${join(dir, 'mailvet.db')}` };
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const cli = (...args: string[]) => runCli(args, environment);

it.each([
  ['help account create', 0, /^Usage: mailvet account create/],
  ['help account', 0, /^Usage: mailvet account \[/],
  ['help', 0, /^Usage: mailvet \[/],
  ['help account frobnicate', 2, /^$/],
])('%s', async (words, code, printed) => {
  expect(await cli(...words.split(' '))).toMatchObject({ code, out: expect.stringMatching(printed) });
});

it.each([
  ['--json', /^give a command/],
  ['account --json', /^give a command/],
  ['--json account frobnicate', /unknown command 'frobnicate'/],
  ['account list --json=true', /unknown option '--json=true'/],
])('%s fails with JSON', async (words, error) => {
  const { code, out, err } = await cli(...words.split(' '));
  expect([code, out, JSON.parse(err)]).toEqual([2, '', { error: expect.stringMatching(error) }]);
});

it('takes --json in front of the command; behind --, it is an argument', async () => {
  const { out } = await cli('--json', 'verify', 'a@@b', '--', '--json');
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).email),
  ).toEqual(['a@@b', '--json']);
  expect((await cli('verify', '--', '--json')).out).toMatch(/^ADDRESS/);
});

it('escapes control characters of a file in errors', async () => {
  const file = join(dir, 'escape.csv');
  await writeFile(file, 'email,\u001b[2Jname\na@b.example,x\n');
  const { code, err } = await cli('verify', '--file', file, '--columns', 'none');
  expect([code, err]).toEqual([2, 'mailvet: --columns "none" is not in the first row: email, \\u{1b}[2Jname.\n']);
});

it('key set and account set print everything that they can change', async () => {
  await cli('migrate');
  const created = await cli('account', 'create', '--name', 'Shop', '--rate-limit', '1', '--json');
  const { id } = JSON.parse(created.out);
  expect((await cli('account', 'set', id, '--low-balance', '1', '--require-second-factor')).out).toBe(
    `Account ${id} (Shop): starter, 1 request per 5 minutes, active, alert below 1 credit, second factor required.\n`,
  );
  const key = JSON.parse((await cli('key', 'create', '--account', id, '--name', 'ci', '--json')).out);
  const set = async (...flags: string[]) => (await cli('key', 'set', key.id, ...flags)).out;
  expect(await set('--name', 'web')).toBe(
    `Key ${key.id} (web) may be used from anywhere, for everything but privacy, without an end; it may spend any number of credits a month.\n`,
  );
  const limits = ['--allow-ip', '192.0.2.7', '--scope', 'verify,usage', '--expires', '2999-01-01'];
  expect(await set(...limits, '--monthly-credits', '1')).toBe(
    `Key ${key.id} (web) may be used from 192.0.2.7, for verify, usage, until 2999-01-01T00:00:00.000Z; it may spend 1 credit a month.\n`,
  );
});
