import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { type Database, ENGINE, freshDatabase } from '../lab/stores.ts';

const ROLE = 'mv "first" role';
const DATABASE = 'mv first';

describe.runIf(ENGINE === 'postgres')('the first errors of PostgreSQL', () => {
  let maintenance: Database;
  let admin: pg.Client;
  let url: URL;
  beforeAll(async () => {
    maintenance = await freshDatabase({ empty: true });
    admin = new pg.Client({ connectionString: maintenance.url });
    await admin.connect();
    url = new URL(maintenance.url);
    url.username = encodeURIComponent(ROLE);
    url.password = 'secret';
    url.pathname = `/${encodeURIComponent(DATABASE)}`;
  });
  afterAll(async () => {
    await admin.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(DATABASE)}`);
    await admin.query(`DROP ROLE IF EXISTS ${pg.escapeIdentifier(ROLE)}`);
    await admin.end();
    await maintenance.drop();
  });

  /** The statement that is proposed, or null where the store could be migrated. */
  async function proposed(): Promise<string | null> {
    let store: Store | null = null;
    try {
      store = await openStore({ url: url.href, clock: systemClock });
      await store.migrate();
      return null;
    } catch (error) {
      return /Run as its superuser: (.*?;)/.exec(String(error))?.[1] ?? String(error);
    } finally {
      await store?.close();
    }
  }

  it('name the SQL that mends them, one after the other', async () => {
    const role = await proposed();
    expect(role).toBe(`CREATE ROLE "mv ""first"" role" LOGIN PASSWORD '…';`);
    await admin.query(role ?? '');
    const database = await proposed();
    expect(database).toMatch(/^CREATE DATABASE "mv first" OWNER "mv ""first"" role"/);
    // As somebody does who forgets the owner.
    await admin.query((database ?? '').replace(/OWNER ".*" (?=TEMPLATE)/, ''));
    const owner = await proposed();
    expect(owner).toMatch(/^ALTER DATABASE "mv first" OWNER TO "mv ""first"" role"/);
    await admin.query(owner ?? '');
    expect(await proposed()).toBeNull();
  });
});
