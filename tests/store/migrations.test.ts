import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { migrationsFolder, readMigrations } from '../../src/store/migrations.ts';
import { openStore, StoreVersionError } from '../../src/store/open.ts';
import { describeStores } from '../lab/stores.ts';
import { BLOCKS, eraseAddress, removeDeleted, verifyNow } from './cast.ts';
import { withOneMore } from './one-more.ts';
import { BY, person } from './people.ts';

describeStores(
  'migrations',
  (lab) => {
    it('are applied once and recorded', async () => {
      const store = await lab.open();
      const known = readMigrations(join(migrationsFolder(), lab.engine));
      expect(await store.migrate()).toEqual({ from: known.length, to: known.length });
      const rows = await lab.sql('SELECT name FROM migrations ORDER BY version');
      expect(rows.map((row) => row.name)).toEqual(known.map((migration) => migration.name));
    });

    it('continue from where the store is', async () => {
      const store = await lab.open();
      await store.accounts.create({ name: 'Before', plan: 'starter', rateLimit: null, credits: 1 });
      const { dir, version } = withOneMore("UPDATE accounts SET name = 'After';");
      const newer = await lab.open({ dir });
      expect(await newer.migrate()).toEqual({ from: version, to: version });
      expect(await newer.accounts.list()).toMatchObject([{ name: 'After' }]);
      rmSync(dir, { recursive: true });
    });

    it('bring a store of the first version here with all that is in it', async () => {
      const dir = mkdtempSync(join(tmpdir(), 'mailvet-migrations-'));
      for (const engine of ['sqlite', 'postgres']) {
        cpSync(join(migrationsFolder(), engine, '0001_base.sql'), join(dir, engine, '0001_base.sql'));
      }
      // Written as the first version did, by a program that knows no more.
      const first = await openStore({ url: lab.url, clock: lab.clock, dir });
      expect(await first.migrate()).toEqual({ from: 0, to: 1 });
      await first.close();
      rmSync(dir, { recursive: true });
      const hash = 'h';
      const now = lab.clock.now();
      for (const sql of [
        `INSERT INTO accounts (id, name, plan, balance, filter_domains, purged_credits, created_at)
       VALUES ('acc_1', 'Before', 'premium', 7, 1, 1, 5)`,
        `INSERT INTO keys (id, account_id, name, hash, last_four, created_at, revoked_at)
       VALUES ('key_1', 'acc_1', 'a', '${hash}', 'abcd', 5, NULL), ('key_2', 'acc_1', 'b', 'gone', 'abcd', 5, 6)`,
        `INSERT INTO ledger (account_id, kind, amount, charged, created_at)
       VALUES ('acc_1', 'grant', 10, 0, 5), ('acc_1', 'settlement', -3, 3, 6)`,
        `INSERT INTO verifications (id, account_id, key_id, email, requested, validation_type, status, deliverability,
         credits, duration_ms, body, created_at)
       VALUES ('ver_1', 'acc_1', 'key_1', 'Jane@Example.com', 'mx', 'mx', 'good', 'unknown', 1, 1, '{}', ${now}),
         ('ver_2', 'acc_1', 'key_1', '${'x'.repeat(9_000)}', 'mx', 'mx', 'good', 'unknown', 1, 1, '{}', ${now})`,
        `INSERT INTO usage_hours VALUES ('acc_1', 0, 'key_1', 'mx', 'good', '', 3, 3)`,
        `INSERT INTO filters (account_id, filter_type, value, created_at) VALUES ('acc_1', 'domain', 'x.example', 5)`,
      ]) {
        await lab.sql(sql);
      }
      const store = await openStore({ url: lab.url, clock: lab.clock, time: 'process' });
      expect(await store.migrate()).toMatchObject({ from: 1 });
      const account = await store.accounts.get('acc_1');
      expect(account).toMatchObject({ name: 'Before', balance: 7, retentionDays: null, lowBalance: null });
      const search = { email: 'jane', id: null, reason: null, keyId: null, status: null, before: null, limit: 5 };
      expect((await store.verifications.search(account!.id, search)).items).toMatchObject([{ id: 'ver_1' }]);
      expect(await verifyNow(store, { hash })).toMatchObject({ outcome: 'settled', balance: 6 });
      expect(await verifyNow(store, { hash: 'gone' })).toMatchObject({ code: 'revoked_api_key' });
      const filter = { filterType: 'domain', value: 'y.example', reason: null, ...BLOCKS } as const;
      expect(await store.filters.add(account!.id, filter)).toMatchObject({ added: true, filter: { id: 2 } });
      expect(await store.filters.remove(account!.id, 1)).toBe(true);
      const jane = await person(store, 'jane@example.com');
      expect(await store.members.add(account!.id, jane, 'owner', BY)).toBe(true);
      expect(await eraseAddress(store, account!.id, 'jane@example.com', BY)).toBe(2);
      expect(await store.accounts.audit()).toEqual([]);
      await store.accounts.remove(account!.id);
      expect(await removeDeleted(store)).toEqual([]);
      expect(await lab.sql('SELECT id FROM accounts')).toEqual([]);
      await store.close();
    });

    it('of a newer program that is not compatible make the store refuse this one, untouched', async () => {
      const { dir, version } = withOneMore('CREATE TABLE later (id INTEGER);');
      await lab.open({ dir });
      rmSync(dir, { recursive: true });
      const older = await openStore({ url: lab.url, clock: systemClock });
      const failure = await older.migrate().catch((error: unknown) => error);
      await older.close();
      expect(failure).toBeInstanceOf(StoreVersionError);
      expect(failure).toMatchObject({ found: version, known: version - 1 });
      expect((failure as Error).message).toContain(`schema version ${version}`);
    });

    it('that fail leave nothing behind', async () => {
      const { dir, version } = withOneMore("CREATE TABLE half (id INTEGER); INSERT INTO nowhere VALUES ('x');");
      await expect(lab.open({ dir })).rejects.toThrow(/nowhere/);
      rmSync(dir, { recursive: true });
      const store = await lab.open();
      expect(await store.migrate()).toMatchObject({ from: version - 1 });
      await expect(lab.sql('SELECT * FROM half')).rejects.toThrow(/half/);
    });

    it('are needed before the store answers that it is ready', async () => {
      const store = await openStore({ url: lab.url, clock: systemClock });
      await expect(store.ping()).rejects.toThrow();
      await store.migrate();
      await store.ping();
      await store.close();
    });
  },
  { empty: true },
);

describe('the store’s URL', () => {
  const open = (url: string) => openStore({ url, clock: systemClock });

  it.each(['', 'mailvet.db', 'mysql://root:secret@host/db', 'file:x.db', 'SQLITE:x'])('%j is refused', async (url) => {
    const failure = await open(url).catch((error: unknown) => error);
    expect((failure as Error).message).toMatch(/must begin with "sqlite:" or "postgres:\/\/"/);
    expect((failure as Error).message).not.toContain('secret');
  });

  it('must name a file', async () => {
    await expect(open('sqlite:')).rejects.toThrow(/names no file/);
  });

  it('may name a folder that is not there yet, but not a file as a folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mailvet-url-'));
    const store = await open(`sqlite:${folder}/a/b/mailvet.db`);
    await store.migrate();
    await store.close();
    expect(existsSync(`${folder}/a/b/mailvet.db`)).toBe(true);
    await expect(open(`sqlite:${folder}/a/b/mailvet.db/c.db`)).rejects.toThrow(/cannot be opened/);
    await expect(open(`sqlite:${folder}`)).rejects.toThrow(/cannot be opened/);
    writeFileSync(join(folder, 'text.db'), 'not a database, but long enough to look like something else'.repeat(20));
    await expect(open(`sqlite:${folder}/text.db`)).rejects.toThrow(/not a database/);
    rmSync(folder, { recursive: true });
  });

  it('may ask for a database in memory', async () => {
    const store = await open('sqlite::memory:');
    await store.migrate();
    await store.accounts.create({ name: 'Gone soon', plan: 'starter', rateLimit: null, credits: 5 });
    expect(await store.accounts.audit()).toEqual([]);
    await store.close();
  });

  it('of a PostgreSQL that is not there is named without its password', async () => {
    const failure = await open('postgres://user:secret@127.0.0.1:1/db').catch((error: unknown) => error);
    expect((failure as Error).message).toMatch(/cannot be reached/);
    expect((failure as Error).message).not.toContain('secret');
  });
});
