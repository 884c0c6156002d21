/** A store that moves to another database of its kind and, where PostgreSQL is tested, each way between the two. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { CONTENTS } from '../../src/store/contents.ts';
import { openStore } from '../../src/store/open.ts';
import type { Moved, Store } from '../../src/store/store.ts';
import {
  type Database,
  describeStores,
  ENGINE,
  freshDatabase,
  runSql,
  type StoreLab,
  TestClock,
} from '../lab/stores.ts';
import { member, verifyNow } from './cast.ts';
import { fill, holding } from './filled.ts';

const open: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

function freshSqlite(): Database {
  const folder = mkdtempSync(join(tmpdir(), 'mailvet-move-'));
  return { url: `sqlite:${join(folder, 'mailvet.db')}`, drop: async () => rmSync(folder, { recursive: true }) };
}

/** A database that was never migrated. */
async function fresh(engine: 'sqlite' | 'postgres'): Promise<string> {
  const database = engine === 'sqlite' ? freshSqlite() : await freshDatabase({ empty: true });
  open.push(database.drop);
  return database.url;
}

async function storeOn(url: string): Promise<Store> {
  const store = await openStore({ url, clock: new TestClock(), time: 'process' });
  open.push(() => store.close());
  return store;
}

async function exported(url: string): Promise<{ lines: string[]; moved: Moved }> {
  const store = await storeOn(url);
  const lines: string[] = [];
  const moved = await store.moving.export(async (line) => void lines.push(line));
  await store.close();
  return { lines, moved };
}

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

async function imported(url: string, lines: readonly string[]): Promise<Moved> {
  const store = await storeOn(url);
  const moved = await store.moving.import(
    () => linesOf(lines),
    () => undefined,
  );
  await store.close();
  return moved;
}

/** All rows of all tables, past the store. */
async function contentsOf(url: string): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const [table, columns] of Object.entries(CONTENTS)) {
    const names = [...columns.keys()].map((name) => `"${name}"`).join(', ');
    const rows = await runSql(url, `SELECT ${names} FROM ${table}`);
    const plain = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value);
    all[table] = rows
      .map((row) =>
        JSON.stringify(
          Object.values(row).map((value) =>
            typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : plain(value),
          ),
        ),
      )
      .sort();
  }
  return all;
}

const OTHERS = ENGINE === 'sqlite' ? (['sqlite'] as const) : (['sqlite', 'postgres'] as const);

async function filled(lab: StoreLab): Promise<void> {
  await lab.open();
  await fill(lab, holding("o'brien+\u{1f4e7}@example.com"));
  await lab.sql('UPDATE accounts SET name = \'a \\ "b" \t € ￿\', balance = 9007199254740991, rate_limit = NULL');
  await lab.sql('DELETE FROM nodes');
}

describeStores('a store that moves', (lab) => {
  it.each(OTHERS)('has every column of every table on %s, and back here', async (engine) => {
    await filled(lab);
    const there = await fresh(engine);
    const { lines, moved } = await exported(lab.url);
    expect(await imported(there, lines)).toEqual(moved);
    const before = await contentsOf(lab.url);
    expect(Object.entries(before).filter(([table, rows]) => rows.length === 0 && table !== 'nodes')).toEqual([]);
    expect(await contentsOf(there)).toEqual(before);
    const back = await fresh(lab.engine);
    expect(await imported(back, (await exported(there)).lines)).toEqual(moved);
    expect(await contentsOf(back)).toEqual(before);
  });

  it.each(OTHERS)('goes on counting where it was, on %s', async (engine) => {
    const store = await lab.open();
    const jane = await member(store);
    for (const email of ['a@example.com', 'b@example.com']) await verifyNow(store, jane, { email });
    // The number of the last row must not come again, although the row is gone.
    await store.close();
    await lab.sql('DELETE FROM verifications WHERE seq = (SELECT max(seq) FROM verifications)');
    await lab.sql('DELETE FROM ledger_days');
    await lab.sql(
      'UPDATE accounts SET balance = (SELECT sum(amount) FROM ledger) + (SELECT sum(held - credits) FROM verifications)',
    );
    const last = Number((await lab.sql('SELECT max(seq) AS seq FROM verifications'))[0]!.seq);
    await lab.sql('DELETE FROM nodes');
    const there = await fresh(engine);
    await imported(there, (await exported(lab.url)).lines);
    const moved = await storeOn(there);
    await verifyNow(moved, jane, { email: 'c@example.com' });
    await moved.close();
    const rows = await runSql(there, 'SELECT seq FROM verifications ORDER BY seq');
    expect(rows.map(({ seq }) => Number(seq))).toEqual([last, last + 2]);
  });

  it('is refused while a service uses it, at both ends', async () => {
    const store = await lab.open();
    await store.nodes.report('1.0.0');
    await expect(exported(lab.url)).rejects.toThrow(/The service is running as .+: stop it on every host first/);
    const { lines } = await exported(await emptyStore());
    await expect(imported(lab.url, lines)).rejects.toThrow(/The service is running as/);
    await store.close();
    expect(await imported(lab.url, lines)).toMatchObject({ tables: { accounts: 0 } });
  });

  async function emptyStore() {
    const url = await fresh(lab.engine);
    const store = await storeOn(url);
    await store.migrate();
    await store.close();
    return url;
  }

  it('is refused where there is one already', async () => {
    await filled(lab);
    const { lines } = await exported(lab.url);
    await expect(imported(lab.url, lines)).rejects.toThrow(
      /The store is not empty \(.*accounts.*\): import into a new/,
    );
    expect(await contentsOf(lab.url)).toMatchObject({ accounts: [expect.any(String)] });
  });

  it('goes on after an interruption, and is no store until its end', async () => {
    await filled(lab);
    const { lines, moved } = await exported(lab.url);
    const there = await fresh(lab.engine);
    let passes = 0;
    async function* interrupted() {
      passes += 1;
      for (const [i, line] of lines.entries()) {
        if (passes === 2 && i === 20) throw new Error('the power is gone');
        yield line;
      }
    }
    const first = await storeOn(there);
    await expect(first.moving.import(interrupted, () => undefined)).rejects.toThrow('the power is gone');
    await first.close();

    const unusable = await storeOn(there);
    await expect(unusable.migrate()).rejects.toThrow(/An import into this store has not ended/);
    await expect(unusable.checkSchema()).rejects.toThrow(/An import into this store has not ended/);
    await unusable.close();
    await expect(exported(there)).rejects.toThrow(/An import into this store has not ended/);
    const another = (await exported(await emptyStore())).lines;
    await expect(imported(there, another)).rejects.toThrow(/The store is taking another file/);

    expect(await imported(there, lines)).toEqual(moved);
    expect(await contentsOf(there)).toEqual(await contentsOf(lab.url));
    await (await storeOn(there)).migrate();
  });

  it('lets one process at a time take lines', async () => {
    await filled(lab);
    const { lines } = await exported(lab.url);
    const there = await fresh(lab.engine);
    const results = await Promise.allSettled([imported(there, lines), imported(there, lines)]);
    const reasons = results.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    for (const reason of reasons) expect(reason).toMatch(/Another process is importing|taking another file|not empty/);
    expect(reasons.length).toBeLessThan(2);
    expect(await contentsOf(there)).toEqual(await contentsOf(lab.url));
  });

  it('takes no file that is cut off, changed, of another version or of another program', async () => {
    await filled(lab);
    const { lines } = await exported(lab.url);
    const there = await fresh(lab.engine);
    const [header = '', ...rest] = lines;
    const damaged = /is damaged or was cut off/;
    const cases: [string[], RegExp][] = [
      [[], damaged],
      [lines.slice(0, -1), damaged],
      [lines.toSpliced(5, 1), damaged],
      [[...lines, '{}'], damaged],
      [lines.with(3, lines[3]!.replace('1', '2')), damaged],
      [['{"accounts": []}'], /is not an export of a store/],
      [
        [header.replace('"mailvet_store":1', '"mailvet_store":2'), ...rest],
        /has the format 2, and this Mailvet reads 1/,
      ],
    ];
    for (const [some, sentence] of cases) await expect(imported(there, some)).rejects.toThrow(sentence);
    // Nothing was written.
    expect(await imported(there, lines)).toMatchObject({ tables: { accounts: 1 } });
  });
});
