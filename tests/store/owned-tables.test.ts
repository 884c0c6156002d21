import { expect, it } from 'vitest';
import { OWNED_TABLES } from '../../src/store/owned-tables.ts';
import type { AccountId } from '../../src/store/store.ts';
import { pass } from '../jobs/time.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import { eraseAddress, hold, member, purge, removeDeleted, verdict, verifyNow } from './cast.ts';
import { claimWith, found, startedList, uploadList } from './list-cast.ts';
import { BY } from './people.ts';

async function* fileOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

const COLUMNS = {
  sqlite: `SELECT m.name AS "table", c.name AS "column" FROM sqlite_schema m, pragma_table_info(m.name) c
    WHERE m.type = 'table'`,
  postgres: `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
    WHERE table_schema = current_schema()`,
};
/** Foreign keys: which table refers to which, and what deleting the row referred to does. */
const REFERENCES = {
  sqlite: `SELECT m.name AS "table", f."table" AS target, f.on_delete = 'CASCADE' AS cascades
    FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`,
  postgres: `SELECT conrelid::regclass::text AS "table", confrelid::regclass::text AS target,
      confdeltype = 'c' AS cascades
    FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`,
};

/** Tables with an account_id, as the database itself says. */
async function owned(lab: StoreLab): Promise<string[]> {
  const rows = await lab.sql(COLUMNS[lab.engine]);
  return rows.filter((row) => row.column === 'account_id').map((row) => String(row.table));
}

const accountsLeft = async (lab: StoreLab) =>
  (await lab.sql('SELECT id FROM accounts ORDER BY id')).map((row) => row.id);

describeStores('tables owned by accounts', (lab) => {
  it('are all in OWNED_TABLES, which says how their rows end, and no others', async () => {
    await lab.open();
    const there = new Set(await owned(lab));
    expect(
      Object.keys(OWNED_TABLES)
        .filter((table) => there.has(table))
        .sort(),
    ).toEqual([...there].sort());
    const columns = await lab.sql(COLUMNS[lab.engine]);
    for (const [table, { purge }] of Object.entries(OWNED_TABLES)) {
      if (!('column' in purge) || !there.has(table)) continue;
      expect(columns, table).toContainEqual({ table, column: purge.column });
    }
  });

  it('and whatever refers to them is owned as well, or deleted with the row', async () => {
    await lab.open();
    const tables = new Set([...(await owned(lab)), 'accounts']);
    const left = (await lab.sql(REFERENCES[lab.engine])).filter(
      ({ table, target, cascades }) => tables.has(String(target)) && !tables.has(String(table)) && !cascades,
    );
    expect(left).toEqual([]);
  });

  it('hold nothing of an address once it was erased', async () => {
    const store = await lab.open();
    const who = await member(store);
    const email = 'erase.me@example.com';
    const idempotency = { route: 'POST /v1/verify', key: 'k', fingerprint: 'f' };
    const seen = { scope: 'signup', mailbox: email, spelling: email };
    await verifyNow(store, who, { email, body: JSON.stringify({ email }) }, { idempotency, seen });
    const group = { deliverability: 'deliverable', reason: null, level: 'mx', provider: null } as const;
    const measured = { verificationId: 'ver_1', group, predicted: null, rule: null, reply: null };
    const mail = { class: 'delivered', at: lab.clock.now(), code: null, source: null, template: null } as const;
    const outcome = { mailbox: email, domain: 'example.com', ...mail, verdict: measured };
    await store.outcomes.record(who.account.id, [outcome], { origin: 'api' }, null);
    const held = await hold(store, who);
    const record = verdict(held.id, { email, body: JSON.stringify({ email }) });
    await store.charging.settle({ caller: held.caller, holdId: held.id, record, idempotency: null });
    // Asked about and deferred, in one list, and not asked about in another.
    const list = await startedList(store, who, [email], { level: 'mx' });
    const works = await claimWith(store, who, list, 'w');
    await store.lists.record(
      who.account.id,
      list,
      works.map((work) => found(work, {}, 1_000)),
    );
    await startedList(store, who, [email]);
    const ready = await uploadList(store, who, [email]);
    expect(await store.lists.keepFile(who.account.id, ready, fileOf(`name,email\n,${email}\n`))).toBe(true);
    const naming = async () => {
      const tables: string[] = [];
      for (const table of await owned(lab)) {
        const rows = await lab.sql(`SELECT * FROM ${table} WHERE account_id = '${who.account.id}'`);
        // Files are kept as base64.
        const texts = rows.flatMap((row) => Object.values(row).map(String));
        if (texts.some((text) => text.includes('erase.me') || Buffer.from(text, 'base64').includes('erase.me')))
          tables.push(table);
      }
      return tables.sort();
    };
    const named = (hashed: boolean) =>
      Object.entries(OWNED_TABLES)
        .filter(([table, { erasure }]) => erasure === 'its own' || erasure === 'hashes' || table === 'idempotency')
        .filter(([, { erasure }]) => (erasure === 'hashes') === hashed)
        .map(([table]) => table)
        .sort();
    const hashing = async () => {
      const counts = named(true).map(
        async (table) => [table, await lab.sql(`SELECT account_id FROM ${table}`)] as const,
      );
      return (await Promise.all(counts)).filter(([, rows]) => rows.length > 0).map(([table]) => table);
    };
    expect([await naming(), await hashing()]).toEqual([named(false), named(true)]);
    await eraseAddress(store, who.account.id, email, BY, email);
    expect([await naming(), await hashing()]).toEqual([[], []]);
  });

  it('are emptied with the account even if the code does not know them', async () => {
    const store = await lab.open();
    const [gone, stays] = [await member(store), await member(store)];
    await lab.sql('CREATE TABLE a_folders (id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id))');
    await lab.sql(`CREATE TABLE b_notes (account_id TEXT NOT NULL, n BIGINT NOT NULL,
      folder TEXT NOT NULL REFERENCES a_folders (id), PRIMARY KEY (account_id, n))`);
    await lab.sql('CREATE TABLE c_lines (account_id TEXT NOT NULL)');
    for (const { account } of [gone, stays]) {
      await lab.sql(`INSERT INTO a_folders VALUES ('${account.id}', '${account.id}')`);
      await lab.sql(`INSERT INTO b_notes VALUES ('${account.id}', 1, '${account.id}')`);
      await lab.sql(`INSERT INTO c_lines VALUES ('${account.id}'), ('${account.id}')`);
    }
    await store.accounts.remove(gone.account.id);
    expect(await removeDeleted(store)).toEqual([]);
    expect(await accountsLeft(lab)).toEqual([stays.account.id]);
    for (const [table, rows] of [
      ['a_folders', 1],
      ['b_notes', 1],
      ['c_lines', 2],
    ] as const) {
      const left = await lab.sql(`SELECT account_id FROM ${table}`);
      expect(left, table).toEqual(Array.from({ length: rows }, () => ({ account_id: stays.account.id })));
    }
  });
});

describeStores('an account that cannot be removed', (lab) => {
  it('is reported with its cause, does not block the others, and is tried again', async () => {
    const store = await lab.open();
    const ids: AccountId[] = [];
    for (let i = 0; i < 3; i++) ids.push((await member(store)).account.id);
    ids.sort();
    // No account_id by which its rows could be found.
    await lab.sql('CREATE TABLE outside (id TEXT PRIMARY KEY, owner TEXT NOT NULL REFERENCES accounts (id))');
    await lab.sql(`INSERT INTO outside VALUES ('x', '${ids[0]}')`);
    for (const id of ids) await store.accounts.remove(id);
    expect(await removeDeleted(store)).toEqual([expect.stringMatching(new RegExp(`^${ids[0]}: .*foreign key`, 'i'))]);
    expect(await accountsLeft(lab)).toEqual([ids[0]]);
    // The purge adds no second job for it.
    await purge(lab, store, 0);
    expect(await removeDeleted(store)).toEqual([]);
    pass(lab, 3600_000);
    expect(await removeDeleted(store)).toHaveLength(1);
    await lab.sql('DELETE FROM outside');
    pass(lab, 3600_000);
    expect(await removeDeleted(store)).toEqual([]);
    expect(await accountsLeft(lab)).toEqual([]);
  });

  it('has a job again after an upgrade or a dropped one, but not while one failed', async () => {
    const store = await lab.open();
    const { id } = (await member(store)).account;
    await store.accounts.remove(id);
    const removal = new Map([['account_removal', 1]] as const);
    for (const claim of await store.jobs.claim(removal)) await store.jobs.fail(claim, 'no', true);
    await purge(lab, store, 0);
    expect(await store.jobs.claim(removal)).toEqual([]);
    const { items } = await store.jobs.list({ failed: true, limit: 10 });
    expect(items).toMatchObject([{ kind: 'account_removal', account: id }]);
    await store.jobs.drop(items[0]!.id);
    await purge(lab, store, 0);
    expect(await removeDeleted(store)).toEqual([]);
    expect(await accountsLeft(lab)).toEqual([]);
  });
});
