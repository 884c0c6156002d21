import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { Kysely } from 'kysely';
import { expect, it } from 'vitest';
import { FILTER_TYPES, type FilterType } from '../../src/kernel/facts/filter-types.ts';
import { sqliteDialect } from '../../src/store/sqlite/dialect.ts';
import { bindable, filtersWith } from '../../src/store/sqlite/statements.ts';
import type { AccountId, Filter, Store } from '../../src/store/store.ts';
import type { Tables } from '../../src/store/tables.ts';
import { describeStores, ENGINE, type StoreLab } from '../lab/stores.ts';
import { BLOCKS, member } from './cast.ts';
import { listener } from './explained.ts';
import { BY } from './people.ts';

/** PostgreSQL's own client gives its bigint as text. */
const counters = (lab: StoreLab, domains: number, emails: number, ips: number) => {
  const shown = (n: number) => (lab.engine === 'sqlite' ? n : `${n}`);
  return { filter_domains: shown(domains), filter_emails: shown(emails), filter_ips: shown(ips) };
};

const NEW = { expired: false, hits: 0, lastHitAt: null };
const ALL = { filterType: null, query: null, offset: 0, limit: 100 };

async function one(store: Store, account: AccountId, value: string): Promise<Filter> {
  const result = await store.filters.add(account, { filterType: 'domain', value, reason: null, ...BLOCKS });
  if (!result.added) throw new Error('It was there already.');
  return result.filter;
}

describeStores('many filters', (lab) => {
  it('that come many at once are answered line by line, those named twice too', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const before = await one(store, account.id, 'b.example');
    const line = (filterType: FilterType, value: string, reason: string | null = null) => ({
      filterType,
      value,
      reason,
      ...BLOCKS,
    });
    const lines = [
      line('domain', 'a.example', 'first'),
      line('domain', 'b.example'),
      line('email', 'a.example'),
      line('domain', 'a.example', 'again'),
      line('ip_address', '192.0.2.7'),
      line('domain', 'b.example'),
      line('email', 'a.example'),
    ];
    const outcomes = await store.filters.addMany(account.id, lines, BY);
    const [first, , mail, , ip] = outcomes.map((outcome) => (outcome.added ? outcome.filter : null));
    expect(outcomes).toEqual([
      {
        added: true,
        filter: { id: first!.id, ...line('domain', 'a.example', 'first'), ...NEW, createdAt: lab.clock.now() },
      },
      { added: false, existingId: before.id },
      { added: true, filter: { id: mail!.id, ...line('email', 'a.example'), ...NEW, createdAt: lab.clock.now() } },
      { added: false, existingId: first!.id },
      { added: true, filter: { id: ip!.id, ...line('ip_address', '192.0.2.7'), ...NEW, createdAt: lab.clock.now() } },
      { added: false, existingId: before.id },
      { added: false, existingId: mail!.id },
    ]);
    expect(await store.filters.from(account.id, 0, 100)).toEqual([before, first, mail, ip]);
    expect(await lab.sql('SELECT filter_domains, filter_emails, filter_ips FROM accounts')).toMatchObject([
      counters(lab, 2, 1, 1),
    ]);
    expect(await store.filters.addMany(account.id, [], BY)).toEqual([]);
    expect((await store.filters.addMany(account.id, lines, BY)).some((outcome) => outcome.added)).toBe(false);
    const rows = await store.auditLog.list(account.id, { before: null, limit: 10 });
    expect(rows).toMatchObject([{ action: 'filters.imported', target: '3 filters', detail: { added: 3, given: 7 } }]);
  });

  it('are gone through from the oldest, some at a time', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const stranger = await member(store);
    await one(store, stranger.account.id, 'x.example');
    const inputs = Array.from({ length: 2_300 }, (_, i) => ({
      filterType: 'domain' as const,
      value: `d${i}.example`,
      reason: null,
      ...BLOCKS,
    }));
    const outcomes = await store.filters.addMany(account.id, inputs);
    const seen: Filter[] = [];
    for (let some = await store.filters.from(account.id, 0, 1_000); some.length > 0; ) {
      seen.push(...some);
      some = await store.filters.from(account.id, some.at(-1)!.id, 1_000);
    }
    expect(seen.map((filter) => filter.value)).toEqual(inputs.map((input) => input.value));
    expect(outcomes.map((outcome) => outcome.added && outcome.filter)).toEqual(seen);
  });

  it('are imported by many at once, in whatever order, while others add and remove: the counters are right', async () => {
    const stores = [await lab.open(), await lab.open()];
    const { account } = await member(stores[0]!);
    const inputs = Array.from({ length: 300 }, (_, i) => ({
      filterType: i % 2 === 0 ? ('email' as const) : ('domain' as const),
      value: `${i}.example`,
      reason: null,
      ...BLOCKS,
    }));
    const early = await Promise.all(inputs.slice(0, 60).map((input) => stores[0]!.filters.add(account.id, input)));
    const results = await Promise.all([
      stores[0]!.filters.addMany(account.id, inputs),
      stores[1]!.filters.addMany(account.id, inputs.toReversed()),
      stores[1]!.filters.addMany(account.id, [...inputs.slice(150), ...inputs.slice(0, 150)]),
      Promise.all(inputs.slice(0, 30).map((input) => stores[1]!.filters.add(account.id, input))),
      Promise.all(
        early.map(async (one) => {
          if (one.added) await stores[0]!.filters.remove(account.id, one.filter.id);
          return one;
        }),
      ),
    ]);
    for (const outcome of results.flat()) {
      if (!outcome.added) expect(outcome.existingId).toBeGreaterThan(0);
    }
    const there = await stores[0]!.filters.list(account.id, ALL);
    const count = async (filterType: FilterType) =>
      (await stores[0]!.filters.list(account.id, { ...ALL, filterType })).total;
    expect(there.total).toBeGreaterThanOrEqual(240);
    expect(await lab.sql('SELECT filter_domains, filter_emails, filter_ips FROM accounts')).toMatchObject([
      counters(lab, await count('domain'), await count('email'), 0),
    ]);
  });

  it.skipIf(ENGINE !== 'sqlite')('are imported in one piece of work of the thread that writes', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const input = (value: string) => ({ filterType: 'domain' as const, value, reason: null, ...BLOCKS });
    // Loads what an import needs.
    await store.filters.addMany(account.id, [input('first.example')], BY);
    const importing = store.filters.addMany(account.id, [input('second.example')], BY);
    await setImmediate();
    // This thread waits synchronously: a transaction with a step left for it would not end.
    const other = new DatabaseSync(lab.url.slice('sqlite:'.length));
    const count = other.prepare('SELECT count(*) AS n FROM filters');
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let tries = 500; tries > 0 && count.get()?.n !== 2; tries -= 1) Atomics.wait(pause, 0, 0, 10);
    expect(count.get()).toEqual({ n: 2 });
    other.close();
    expect(await importing).toMatchObject([{ added: true }]);
  });

  it.skipIf(ENGINE !== 'sqlite')('are looked up by the index of their values, though SQLite expects few', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const file = new DatabaseSync(lab.url.slice('sqlite:'.length));
    try {
      const db = new Kysely<Tables>({ dialect: sqliteDialect(() => expect.fail('Nothing is run.')) });
      const { sql, parameters } = filtersWith(db, account.id, 'domain', ['a.example', 'b.example']).compile();
      const plan = file.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...bindable(parameters));
      expect(plan.map(({ detail }) => detail)).toContainEqual(expect.stringMatching(/SEARCH filters .*value=\?/));
    } finally {
      file.close();
    }
  });

  it.skipIf(ENGINE !== 'postgres')('are imported in few round trips, whatever their number', async () => {
    const between = await listener(lab.url);
    const store = await lab.open({ url: between.url });
    const { account } = await member(store);
    const inputs = Array.from({ length: 300 }, (_, i) => ({
      filterType: FILTER_TYPES[i % FILTER_TYPES.length]!,
      value: `${i}.example`,
      reason: null,
      ...BLOCKS,
    }));
    const statements = () => between.said().filter((text) => / filters /.test(text)).length;
    const before = statements();
    expect(await store.filters.addMany(account.id, inputs, BY)).toHaveLength(300);
    // What is there already, and all that changes.
    expect(statements() - before).toBe(2);
    await store.close();
    await between.close();
  });
});
