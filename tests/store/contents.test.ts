/** The table of what columns hold: a person is found, and erased, wherever a dump of the database finds them. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { CONTENTS } from '../../src/store/contents.ts';
import { OWNED_TABLES } from '../../src/store/owned-tables.ts';
import type { AccountId, Person } from '../../src/store/store.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import { eraseAddress, member, verifyNow } from './cast.ts';
import { fill, holding } from './filled.ts';
import { BY, COMMAND } from './people.ts';

const EMAIL = 'erase.me@example.com';
const ACCOUNT = 'acc_1' as AccountId;
const JANE: Person = { email: EMAIL, mailbox: EMAIL, spellings: null };

const COLUMNS = {
  sqlite: `SELECT m.name || '.' || c.name AS "column" FROM sqlite_schema m, pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name <> 'sqlite_sequence'`,
  postgres: `SELECT table_name || '.' || column_name AS "column" FROM information_schema.columns
    WHERE table_schema = current_schema()`,
};
/** Of the database itself: which migrations it has, and the random number that stands for the rules of an account. */
const OF_THE_DATABASE = /^migrations\.|^accounts\.rules$/;

/** Lines of a dump, each a row: made by the database's own tool where that is installed. */
function dump(lab: StoreLab): string[] {
  const [tool, ...args] =
    lab.engine === 'sqlite'
      ? ['sqlite3', lab.url.slice('sqlite:'.length), '.dump']
      : ['pg_dump', '--data-only', '--inserts', lab.url];
  return execFileSync(tool, args, { encoding: 'utf8', maxBuffer: 2 ** 28 }).split('\n');
}

/** How many rows of the account a dump finds the text in, by table. */
function found(lab: StoreLab, text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of dump(lab)) {
    const table = /^INSERT INTO (?:public\.)?"?(\w+)"? /.exec(line)?.[1];
    if (table === undefined || !line.includes(text) || !(table in OWNED_TABLES) || !line.includes(ACCOUNT)) continue;
    counts[table] = (counts[table] ?? 0) + 1;
  }
  return counts;
}

async function exported(lab: StoreLab): Promise<Record<string, number>> {
  const store = await lab.open();
  const counts: Record<string, number> = {};
  for await (const { table, rows } of store.privacy.held(ACCOUNT, JANE, COMMAND)) {
    counts[table] = (counts[table] ?? 0) + rows.length;
    expect(JSON.stringify(rows)).not.toMatch(/_secret|_hash"|token/);
  }
  return counts;
}

const installed = (() => {
  try {
    for (const tool of ['sqlite3', 'pg_dump']) execFileSync(tool, ['--version']);
    return true;
  } catch {
    return false;
  }
})();

describeStores('what columns hold', (lab) => {
  it('is said of every column that the database has, and of no other', async () => {
    await lab.open();
    const columns = (await lab.sql(COLUMNS[lab.engine])).map(({ column }) => String(column));
    const known = Object.entries(CONTENTS).flatMap(([table, contents]) =>
      [...contents.keys()].map((c) => `${table}.${c}`),
    );
    expect(known.sort()).toEqual(columns.filter((column) => !OF_THE_DATABASE.test(column)).sort());
  });

  it.runIf(installed)(
    'finds what a dump finds, and after an erasure a dump finds only what is said to be kept',
    async () => {
      const store = await lab.open();
      await fill(lab, holding(EMAIL));
      const stranger = await member(store);
      await verifyNow(store, stranger, { email: EMAIL, body: JSON.stringify({ email: EMAIL }) });
      const dumped = found(lab, EMAIL);
      expect(Object.keys(dumped)).toEqual(expect.arrayContaining(['verifications', 'trail', 'filters', 'list_blocks']));
      // Named by a file in base64, and by the user of a membership.
      expect(await exported(lab)).toEqual({ ...dumped, list_files: 1, members: 1 });
      const { erased, kept } = await store.privacy.erase(ACCOUNT, JANE, BY, { filters: true });
      const left = found(lab, EMAIL);
      expect({ ...kept }).toEqual({ ...left, members: 1 });
      const settings = ['hooks', 'invitations', 'jobs', 'keys', 'outcome_sources', 'policies', 'webhooks'];
      // The name of who acted stays in the audit log.
      expect(
        Object.keys(left)
          .filter((table) => table !== 'trail')
          .sort(),
      ).toEqual(settings);
      expect(erased).toMatchObject({
        verifications: 1,
        list_blocks: 1,
        filters: 1,
        saved_views: 1,
        shared_views: 1,
        ledger: 1,
      });
      expect(await eraseAddress(store, stranger.account.id, EMAIL, BY)).toBe(1);
    },
  );
});
