import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { migrationsFolder, readMigrations } from '../../src/store/migrations.ts';
import { openStore, StoreVersionError } from '../../src/store/open.ts';
import { describeStores } from '../lab/stores.ts';

/** The package's migrations and, per engine, one more. */
function withOneMore(sql: string): { dir: string; version: number } {
  const dir = mkdtempSync(join(tmpdir(), 'mailvet-migrations-'));
  cpSync(migrationsFolder(), dir, { recursive: true });
  const version = readMigrations(join(dir, 'sqlite')).length + 1;
  for (const engine of ['sqlite', 'postgres']) {
    writeFileSync(join(dir, engine, `${String(version).padStart(4, '0')}_next.sql`), sql);
  }
  return { dir, version };
}

describeStores('migrations', (lab) => {
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

  it('of a newer program make the store refuse this one, untouched', async () => {
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
});

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
