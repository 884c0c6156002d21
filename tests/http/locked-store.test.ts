/** A store that another session has locked: whatever needs it is answered 503, and nothing is a fault of ours. */
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopeOf } from '../../src/http/route.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { type Database, ENGINE, freshDatabase } from '../lab/stores.ts';
import { type Client, signedIn } from './dashboard/client.ts';
import { pathOf, sampleOf } from './dashboard/sample.ts';

const STATEMENT_TIMEOUT_MS = 100;
let database: Database;
let lab: Lab;
let member: Member;
let owner: Client;
beforeAll(async () => {
  database = await freshDatabase();
  const url =
    ENGINE === 'postgres' ? `${database.url}?options=-c%20statement_timeout%3D${STATEMENT_TIMEOUT_MS}` : database.url;
  lab = await startLab({ MAILVET_DATABASE_URL: url, MAILVET_ROLE: 'api' });
  member = await lab.member({ credits: 1000, rateLimit: 100_000 });
  owner = await signedIn(lab, { account: member.account, role: 'owner', operator: true });
});
afterAll(async () => {
  await lab.close();
  await database.drop();
});

/** Locks some tables until the returned function is called. */
async function lock(tables: (name: string) => boolean): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const all = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'";
  const names = (await client.query<{ name: string }>(all)).rows.map(({ name }) => name).filter(tables);
  await client.query(`BEGIN; LOCK TABLE ${names.join(', ')} IN ACCESS EXCLUSIVE MODE`);
  return () => client.end();
}

const SESSIONS = /^(auth_sessions|auth_users|members|accounts)$/;

describe.skipIf(ENGINE !== 'postgres')('on PostgreSQL with a statement_timeout', () => {
  it.each([
    ['every table', () => true],
    ['every table but those of sessions', (name: string) => !SESSIONS.test(name)],
  ])('%s: no route answers 500', { timeout: 180_000 }, async (_what, tables) => {
    const unlock = await lock(tables);
    const found: string[] = [];
    let unavailable = 0;
    // What ends the session comes last.
    for (const row of ROUTES.filter(({ path }) => !/sign-out|end-others/.test(path))) {
      const path = pathOf(row, { account: member.account.id, id: '1' });
      const body = row.input?.body ? sampleOf(row.input.body) : undefined;
      const call = scopeOf(row.access) !== null || row.form !== undefined ? member.call : owner.call;
      const { status, text } = await call(row.method, path, body);
      if (status === 503) unavailable += 1;
      if (status === 500) found.push(`${row.method} ${path}: ${text}`);
    }
    await unlock();
    expect(found).toEqual([]);
    expect(unavailable).toBeGreaterThan(ROUTES.length / 4);
    await expect.poll(async () => (await member.verify('a@good.com')).status, { timeout: 20_000 }).toBe(200);
  });
});

describe.skipIf(ENGINE !== 'sqlite')('on SQLite', () => {
  it('a change waits for the lock of another process, and is then 503', async () => {
    const other = new DatabaseSync(database.url.slice('sqlite:'.length));
    other.exec('BEGIN IMMEDIATE');
    const replies = [
      await member.call('POST', '/v1/filters', { value: 'example.com' }),
      await member.call('POST', '/v1/lists', { emails: ['a@good.com'] }),
    ];
    other.close();
    for (const { status, json } of replies) expect([status, json.code]).toEqual([503, 'verification_unavailable']);
    expect((await member.call('POST', '/v1/filters', { value: 'example.com' })).status).toBe(201);
  });
});
