/** A service that moves to another database by the commands of docs/moving.md. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { person } from '../lab/person.ts';
import { runCli, spawnCli } from '../lab/process.ts';
import { samplesOf } from '../lab/samples.ts';
import { startLab } from '../lab/service.ts';
import { ENGINE, freshDatabase, runSql } from '../lab/stores.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'mailvet-move-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const sqlite = (name: string) => `sqlite:${join(dir, name, 'mailvet.db')}`;
/** Of the engine under test. */
const target = () => freshDatabase({ empty: true });

/** The commands of the page, from one database to another. */
async function move(from: string, to: string, file: string): Promise<string> {
  const sample = samplesOf('docs/moving.md').find(({ code }) => code.startsWith('mailvet export-store'))?.code ?? '';
  let said = '';
  for (const line of sample.trim().split('\n')) {
    const [url, args] = line.startsWith('MAILVET_DATABASE_URL=')
      ? [to, line.split(' ').slice(2)]
      : [from, line.split(' ').slice(1)];
    const ran = await runCli(
      args.map((arg) => arg.replace('/backup/mailvet.store', file)),
      { MAILVET_DATABASE_URL: url },
    );
    expect(ran).toMatchObject({ code: 0, err: '' });
    said += ran.out;
  }
  return said;
}

describe('a service that has moved', () => {
  it('answers as before: verdicts, balance, history, keys, sessions; and so does one that moved back', async () => {
    const before = sqlite('before');
    const lab = await startLab({ MAILVET_DATABASE_URL: before });
    const member = await lab.member();
    const jane = await person(lab, { account: member.account.id });
    for (const email of ['jane@good.com', 'joe@null-mx.com', 'x@mailinator.com']) await member.verify(email);
    await member.call('POST', '/v1/filters', { filter_type: 'domain', value: 'spam.example' });
    const key = { 'idempotency-key': 'one' };
    await member.verify('again@good.com', {}, key);
    const asked = async (url: string) => {
      const ask = async (path: string) => {
        const authorization = `Bearer ${member.key}`;
        const reply = await fetch(`${url}${path}`, { headers: { authorization } });
        // The requests of this test itself count.
        const { rate_limit, ...json } = Object(await reply.json());
        return [reply.status, json];
      };
      const cookie = [...jane.jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const session = await fetch(`${url}/dashboard/session`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } });
      return [
        await ask('/v1/verifications'),
        await ask('/v1/usage'),
        await ask('/v1/filters'),
        session.status,
        await session.json(),
      ];
    };
    const answers = await asked(lab.url);
    expect(answers[3]).toBe(200);
    await lab.service.stop();

    const there = await target();
    const said = await move(before, there.url, join(dir, 'there.store'));
    expect(said).toMatch(
      /^Exported ([\d,]+ rows: 1 account, 4 verifications), to .+ \(1 MB\)\.\nImported \1\. .+ All sums agree\.\n$/,
    );
    expect((statSync(join(dir, 'there.store')).mode & 0o777).toString(8)).toBe('600');
    const moved = await startLab({ MAILVET_DATABASE_URL: there.url });
    expect(await asked(moved.url)).toEqual(answers);
    // The reply that was kept, which is not charged again.
    const authorization = { authorization: `Bearer ${member.key}`, 'content-type': 'application/json', ...key };
    const body = JSON.stringify({ email: 'again@good.com' });
    const again = await fetch(`${moved.url}/v1/verify`, { method: 'POST', headers: authorization, body });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    await moved.service.stop();

    const back = sqlite('back');
    await move(there.url, back, join(dir, 'back.store'));
    const returned = await startLab({ MAILVET_DATABASE_URL: back });
    expect(await asked(returned.url)).toEqual(answers);
    for (const one of [lab, moved, returned]) await one.close();
    await there.drop();
  }, 180_000);
});

const ROWS = 40_000;
const MEGABYTES = 50;
const NUMBERS =
  ENGINE === 'postgres'
    ? (n: number) => `SELECT i FROM generate_series(1, ${n}) AS n (i)`
    : (n: number) => `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n}) SELECT i FROM n`;

describe('a large store', () => {
  it('moves in little memory, and after kill -9 from where it was', async () => {
    const from = await freshDatabase();
    await runSql(
      from.url,
      `INSERT INTO attempts (subject, count, ends_at) SELECT 'subject ' || i, 1, 9000000000000 FROM (${NUMBERS(ROWS)}) AS s`,
    );
    const blank = ENGINE === 'sqlite' ? "printf('%.1000000c', 'x')" : "repeat('x', 1000000)";
    await runSql(
      from.url,
      `INSERT INTO shared_files (name, made, content) SELECT 'file ' || i, 'now', ${blank} FROM (${NUMBERS(MEGABYTES)}) AS s`,
    );
    const file = join(dir, 'large.store');
    const little = { NODE_OPTIONS: '--max-old-space-size=48' };
    const source = { MAILVET_DATABASE_URL: from.url };
    expect(await runCli(['export-store', file], { ...source, ...little })).toMatchObject({ code: 0 });
    // Kept as it is without --force, and neither is anything left of what is refused.
    expect(await runCli(['export-store', file], source)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--force'),
    });
    expect(readdirSync(dir).filter((name) => name.includes('.part-'))).toEqual([]);

    const to = await target();
    const environment = { MAILVET_DATABASE_URL: to.url, ...little };
    const killed = spawnCli(['import-store', file], environment);
    const progress = async () => {
      const rows = await runSql(to.url, 'SELECT name FROM migrations WHERE version = 1000000000').catch(() => []);
      return Number(
        String(rows[0]?.name ?? '0')
          .split(' ')
          .at(-1),
      );
    };
    await vi.waitUntil(async () => (await progress()) > 5, { timeout: 60_000, interval: 5 });
    killed.child.kill('SIGKILL');
    await killed.done;
    const done = await progress();
    expect(done).toBeGreaterThan(5);
    const audit = await runCli(['audit'], { MAILVET_DATABASE_URL: to.url });
    expect(audit).toMatchObject({ code: 1, err: expect.stringMatching(/An import into this store has not ended/) });

    expect(await runCli(['import-store', file], environment)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/The store has what the file has\. All sums agree\./),
    });
    const sum = 'SELECT count(*) AS rows, count(DISTINCT subject) AS subjects FROM attempts';
    expect(Object.values((await runSql(to.url, sum))[0]!).map(Number)).toEqual([ROWS, ROWS]);
    const again = await runCli(['import-store', file], environment);
    expect(again).toMatchObject({ code: 2, err: expect.stringMatching(/The store is not empty/) });
    await from.drop();
    await to.drop();
  }, 300_000);

  it('is refused with a sentence where the file is not one', async () => {
    const to = await target();
    const text = join(dir, 'text.store');
    writeFileSync(text, 'none');
    const ran = await runCli(['import-store', text], { MAILVET_DATABASE_URL: to.url });
    expect(ran).toMatchObject({ code: 2, err: expect.stringMatching(/The file is damaged or was cut off/) });
    const missing = await runCli(['import-store', join(dir, 'none.store')], { MAILVET_DATABASE_URL: to.url });
    expect(missing).toMatchObject({ code: 1, err: expect.stringMatching(/ENOENT/) });
    const nowhere = await runCli(['export-store', text, '--force'], { MAILVET_DATABASE_URL: sqlite('nowhere') });
    expect(nowhere).toMatchObject({ code: 1, err: expect.stringMatching(/there is no store at/) });
    expect(existsSync(text)).toBe(true);
    await to.drop();
  });
});
