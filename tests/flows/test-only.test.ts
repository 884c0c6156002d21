/** The service for the tests of others: `serve --test-only`, and the samples of docs/testing.md. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../../scripts/fresh.mjs';
import { createMailvet, MailvetError } from '../../sdk/src/index.ts';
import { stubFetch } from '../../sdk/src/testing.ts';
import { type Running, runCli, startProcess } from '../lab/process.ts';
import { samplesOf } from '../lab/samples.ts';

const KEY = `mv_test_${'0'.repeat(32)}`;
const OWN = `mv_test_${'a'.repeat(32)}`;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'mailvet-test-only-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('serve --test-only', () => {
  let service: Running;
  beforeAll(async () => {
    // A resolver that nobody asks: nothing listens there.
    const environment = {
      MAILVET_DATABASE_URL: `sqlite:${dir}/mailvet.db`,
      MAILVET_LISTS_DIR: `${dir}/lists`,
      MAILVET_DNS_SERVERS: '127.0.0.1:1',
      MAILVET_LISTS_UPDATE: 'daily',
      MAILVET_TEST_KEYS: `${KEY},${OWN}`,
    };
    service = await startProcess(environment, ['--test-only']);
  });
  afterAll(() => service.end('SIGTERM'));

  it('answers its keys as test mode does, and no others', async () => {
    for (const key of [KEY, OWN]) {
      const client = createMailvet({ url: service.url, key });
      expect(await client.verify({ email: 'ada@example.com' })).toMatchObject({ status: 'good', credits_used: 0 });
      expect(await client.verify({ email: 'null_mx@example.com' })).toMatchObject({ reason: 'null_mx' });
    }
    for (const key of [KEY.replace('test', 'live'), `mv_test_${'b'.repeat(32)}`])
      await expect(createMailvet({ url: service.url, key }).usage()).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  it('finds any other valid address deliverable, and at level mx unknown', async () => {
    const client = createMailvet({ url: service.url, key: KEY });
    const found = async (email: string, validation_type: 'mx' | 'smtp') =>
      (await client.verify({ email, validation_type })).deliverability;
    expect(await found('ada@example.com', 'smtp')).toBe('deliverable');
    for (const email of ['ada@example.com', 'deliverable@example.com', 'mailbox_not_found@example.com'])
      expect(await found(email, 'mx')).toBe('unknown');
    expect(await client.verify({ email: 'a..b@example.com' })).toMatchObject({ reason: 'invalid_format' });
  });

  it('is ready without DNS, names no first user, and keeps nothing', async () => {
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${service.url}/dashboard/session`)).json()).toMatchObject({ setup_command: null });
    expect(readdirSync(dir)).toEqual([]);
  });

  it('rejects keys that no test key can be', async () => {
    const { code, err } = await runCli(['serve', '--test-only', '--test-keys', 'mv_live_1']);
    expect([code, err]).toEqual([2, expect.stringContaining('mv_test_ and 32 letters and digits')]);
  });
});

it('the workflow of the page starts it, waits for it, and runs the tests', async () => {
  const sample = samplesOf('docs/testing.md').find(({ language }) => language === 'yaml')?.code ?? '';
  const { steps } = parse(sample).jobs.test;
  const { run, env } = steps.at(-1);
  // Of the project whose tests these are.
  mkdirSync(join(dir, 'node_modules/.bin'), { recursive: true });
  const command = join(dir, 'node_modules/.bin/mailvet');
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'bin/mailvet.mjs')}' "$@"\n`);
  chmodSync(command, 0o755);
  const body = `'{"email": "mailbox_full@example.com", "validation_type": "smtp"}'`;
  const call = `curl -s "$MAILVET_URL/v1/verify" -H "Authorization: Bearer $MAILVET_KEY" -H 'Content-Type: application/json' -d ${body}`;
  const script = `trap 'kill $!' EXIT\n${run.replace('npm test', call)}`;
  const PATH = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const { stdout } = await promisify(execFile)('bash', ['-ec', script], { cwd: dir, env: { ...env, PATH } });
  expect(JSON.parse(stdout.slice(stdout.indexOf('{"email"')))).toMatchObject({ reason: 'mailbox_full' });
});

describe('stubFetch', () => {
  const client = (verdicts?: Parameters<typeof stubFetch>[0]) =>
    createMailvet({ url: 'https://verify.example', key: KEY, fetch: stubFetch(verdicts) });

  it('answers with what is given for the address, else a good verdict', async () => {
    const { verify } = client({ 'gone@example.com': { status: 'bad', reason: 'mailbox_not_found' } });
    expect(await verify({ email: 'gone@example.com' })).toMatchObject({ status: 'bad', reason: 'mailbox_not_found' });
    expect(await verify({ email: 'toString' })).toMatchObject({ status: 'good', email: 'toString' });
  });

  it('rejects as given, and for calls that it does not know', async () => {
    const error = new MailvetError(429, { error: 'Slow down.', code: 'rate_limit_exceeded', retry_after: 3 });
    const mailvet = client({ 'busy@example.com': error });
    const caught = await mailvet.verify({ email: 'busy@example.com' }).catch((reason) => reason);
    expect(caught).toMatchObject({ status: 429, code: 'rate_limit_exceeded', retryAfter: 3, message: 'Slow down.' });
    await expect(mailvet.usage()).rejects.toMatchObject({ code: 'not_found' });
  });

  it('has the fields of a reply of the service', async () => {
    const service = await startProcess({ MAILVET_PORT: '0' }, ['--test-only']);
    try {
      const real = await createMailvet({ url: service.url, key: KEY }).verify({
        email: 'ada@example.com',
        validation_type: 'smtp',
      });
      const stub = await client().verify({ email: 'ada@example.com' });
      expect(Object.keys(stub).sort()).toEqual(Object.keys(real).sort());
      expect(Object.keys(stub.checks).sort()).toEqual(Object.keys(real.checks).sort());
    } finally {
      await service.end('SIGTERM');
    }
  });
});
