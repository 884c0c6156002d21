import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';
import { type Database, ENGINE, freshDatabase } from '../lab/stores.ts';
import { stallable } from '../store/stall.ts';

const WITHIN = { timeout: 20_000, interval: 200 };

let database: Database;
let link: Awaited<ReturnType<typeof stallable>>;
let lab: Lab;
let member: Member;
beforeAll(async () => {
  database = await freshDatabase();
  link = await stallable(database.url);
  lab = await startLab({ MAILVET_DATABASE_URL: link.url });
  member = await lab.member();
});
afterAll(async () => {
  await lab.close();
  await link.close();
  await database.drop();
});
const ready = async () => {
  const { status, json } = await request(lab.url, 'GET', '/readyz');
  return [status, json.checks.store.status];
};

describe('/readyz', () => {
  it('is 503 while the store hangs, and 200 when it is back', async () => {
    await expect.poll(ready, WITHIN).toEqual([200, 'ok']);
    await link.stall();
    await expect.poll(ready, WITHIN).toEqual([503, 'failing']);
    link.resume();
    await expect.poll(ready, WITHIN).toEqual([200, 'ok']);
  });

  it.skipIf(ENGINE !== 'postgres')('does not depend on rows that others can lock', { timeout: 40_000 }, async () => {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT * FROM heartbeat FOR UPDATE');
    await other.query('SELECT * FROM store_clock FOR UPDATE');
    await expect.poll(ready, WITHIN).toEqual([200, 'ok']);
    expect((await member.verify('a@good.com')).status).toBe(200);
    await expect.poll(ready, WITHIN).toEqual([200, 'ok']);
    await other.end();
  });
});
