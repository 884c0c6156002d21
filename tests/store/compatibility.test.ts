/**
 * Programs of two versions on one store: the older one knows the package's migrations, the newer one knows one more.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrationsFolder, readMigrations } from '../../src/store/migrations.ts';
import { openStore, StoreVersionError } from '../../src/store/open.ts';
import { describeStores, ENGINE } from '../lab/stores.ts';
import { type Member, member, verifyNow } from './cast.ts';
import { withOneMore } from './one-more.ts';

const KNOWN = readMigrations(join(migrationsFolder(), 'sqlite')).length;
const dirs: string[] = [];
const newer = (...of: Parameters<typeof withOneMore>): string => {
  const { dir } = withOneMore(...of);
  dirs.push(dir);
  return dir;
};
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
});

describe('every migration', () => {
  it('declares with which programs it is compatible, the same for both databases', () => {
    const declared = (engine: string) =>
      readMigrations(join(migrationsFolder(), engine)).map(({ name, compatibleFrom }) => [name, compatibleFrom]);
    expect(declared('sqlite')).toEqual(declared('postgres'));
    expect(() => readMigrations(join(newer('SELECT 1', { compatibleFrom: null }), 'sqlite'))).toThrow(
      /_next\.sql has no line "-- compatible-from: N"/,
    );
    expect(() => readMigrations(join(newer('SELECT 1', { compatibleFrom: KNOWN + 2 }), 'sqlite'))).toThrow(/later/);
  });
});

describeStores('a newer program that has migrated the store', (lab) => {
  let jane: Member;
  beforeEach(async () => {
    jane = await member(await lab.open());
  });

  it('and is compatible lets older ones go on, and start again', async () => {
    const running = await lab.open();
    const dir = newer('ALTER TABLE accounts ADD COLUMN later TEXT;', { compatibleFrom: KNOWN });
    const next = await lab.open({ dir });
    expect(await verifyNow(running, jane)).toMatchObject({ outcome: 'settled', balance: 99 });
    await running.ping();
    const restarted = await openStore({ url: lab.url, clock: lab.clock, time: 'process' });
    expect(await restarted.migrate()).toEqual({ from: KNOWN + 1, to: KNOWN + 1 });
    expect(await restarted.checkSchema()).toMatchObject({ version: KNOWN + 1, known: KNOWN, pending: [] });
    expect(await verifyNow(restarted, jane)).toMatchObject({ outcome: 'settled', balance: 98 });
    expect(await verifyNow(next, jane)).toMatchObject({ outcome: 'settled', balance: 97 });
    await restarted.close();
    expect(await next.accounts.audit()).toEqual([]);
  });

  it('and is not makes older ones stop charging, with the reason, and not ready', async () => {
    const running = await lab.open();
    expect(await verifyNow(running, jane)).toMatchObject({ outcome: 'settled', balance: 99 });
    const next = await lab.open({ dir: newer('ALTER TABLE accounts ADD COLUMN later TEXT;') });
    const failure = await verifyNow(running, jane).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'verification_unavailable', cause: expect.any(StoreVersionError) });
    expect(running.charging.health.failure?.cause).toBeInstanceOf(StoreVersionError);
    await expect(running.ping()).rejects.toThrow(/needs a Mailvet that knows version/);
    expect(await verifyNow(next, jane)).toMatchObject({ outcome: 'settled', balance: 98 });
    expect(await next.accounts.audit()).toEqual([]);
  });

  it('can say before whether older ones keep working', async () => {
    const open = (dir: string) => openStore({ url: lab.url, clock: lab.clock, dir });
    for (const [compatibleFrom, rolling] of [
      [KNOWN, true],
      [KNOWN + 1, false],
    ] as const) {
      const next = await open(newer('SELECT 1', { compatibleFrom }));
      const pending = [{ version: KNOWN + 1, name: 'next', compatibleFrom }];
      expect(await next.checkSchema()).toMatchObject({ version: KNOWN, known: KNOWN + 1, pending, rolling });
      await next.close();
    }
  });
});

describe.runIf(ENGINE === 'postgres')('on PostgreSQL', () => {
  describeStores('a migration', (lab) => {
    async function session(): Promise<pg.Client> {
      const client = new pg.Client({ connectionString: lab.url });
      await client.connect();
      return client;
    }

    it('that waits for a table does not make charges wait behind it', async () => {
      const running = await lab.open();
      const jane = await member(running);
      const other = await session();
      await other.query('BEGIN; SELECT 1 FROM accounts');
      const dir = newer('ALTER TABLE accounts ADD COLUMN later TEXT;', { compatibleFrom: KNOWN });
      const migrated = lab.open({ dir });
      const waits = async () =>
        (await lab.sql(`SELECT 1 FROM pg_locks WHERE relation = 'accounts'::regclass AND NOT granted`)).length;
      await expect.poll(waits, { timeout: 30_000 }).toBe(1);
      expect(await verifyNow(running, jane)).toMatchObject({ outcome: 'settled', balance: 99 });
      await other.query('COMMIT');
      await other.end();
      expect(await (await migrated).checkSchema()).toMatchObject({ version: KNOWN + 1, pending: [] });
    });

    it('of indexes builds beside writers, and again where a build was left half done; two nodes build once', async () => {
      const running = await lab.open();
      const jane = await member(running);
      await verifyNow(running, jane);
      await verifyNow(running, jane);
      // Left invalid: two rows are the same.
      const half = 'CREATE UNIQUE INDEX CONCURRENTLY next_half ON verifications (account_id)';
      await expect(lab.sql(half)).rejects.toThrow(/could not create unique index/);
      const sql = [
        '-- The first one was begun before.',
        'CREATE INDEX CONCURRENTLY next_half ON verifications (account_id);',
        'CREATE INDEX CONCURRENTLY next_whole ON verifications (account_id) WHERE credits > 0;',
      ].join('\n');
      const dir = newer(sql, { compatibleFrom: KNOWN, concurrently: true });
      // The build waits for this transaction; writers do not wait for the build.
      const other = await session();
      await other.query('BEGIN; DELETE FROM verifications WHERE false');
      const both = [lab.open({ dir }), lab.open({ dir })];
      const builds = async () =>
        (
          await lab.sql(
            `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
             AND query LIKE '% INDEX CONCURRENTLY next%'`,
          )
        ).length;
      await expect.poll(builds, { timeout: 30_000 }).toBe(1);
      expect(await verifyNow(running, jane)).toMatchObject({ outcome: 'settled', balance: 97 });
      await other.query('COMMIT');
      await other.end();
      await Promise.all(both);
      const made = await lab.sql(
        `SELECT relname AS name, indisvalid AS valid, indisunique AS unique FROM pg_index JOIN pg_class ON oid = indexrelid
         WHERE relname LIKE 'next%' ORDER BY 1`,
      );
      expect(made).toEqual([
        { name: 'next_half', valid: true, unique: false },
        { name: 'next_whole', valid: true, unique: false },
      ]);
    });
  });
});
