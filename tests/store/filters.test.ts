import { expect, it } from 'vitest';
import { DAY_MS } from '../../src/kernel/clock.ts';
import type { FilterType } from '../../src/kernel/facts/filter-types.ts';
import { FILTER_KEPT_DAYS } from '../../src/kernel/facts/limits.ts';
import type { FilterSort } from '../../src/kernel/facts/sort-orders.ts';
import type { AccountId, Filter, FilterRule, Store } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { asking, BLOCKS, member, newVerificationId, verdict, verifyNow } from './cast.ts';
import { BY } from './people.ts';

const add = (store: Store, account: AccountId, filterType: FilterType, value: string, reason: string | null = null) =>
  store.filters.add(account, { filterType, value, reason, ...BLOCKS });

async function added(...input: Parameters<typeof add>): Promise<Filter> {
  const result = await add(...input);
  if (!result.added) throw new Error('It was there already.');
  return result.filter;
}

const NO_KEYS = { email: null, mailbox: null, domains: [], ip: null, mxHosts: [] };
const UNUSED = { expired: false, hits: 0, lastHitAt: null };
const ALL = { filterType: null, query: null, offset: 0, limit: 100 };

describeStores('filters', (lab) => {
  it('are added once, listed newest first and removed', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const first = await added(store, account.id, 'domain', 'example.com', 'spam\0trap');
    expect(first).toEqual({
      id: expect.any(Number),
      filterType: 'domain',
      value: 'example.com',
      reason: 'spam\uFFFDtrap',
      ...BLOCKS,
      ...UNUSED,
      createdAt: lab.clock.now(),
    });
    const second = await added(store, account.id, 'email', 'example.com');
    expect(await add(store, account.id, 'domain', 'example.com')).toEqual({ added: false, existingId: first.id });
    expect(await store.filters.list(account.id, ALL)).toEqual({ items: [second, first], total: 2 });
    expect(await store.filters.remove(account.id, first.id)).toBe(true);
    expect(await store.filters.remove(account.id, first.id)).toBe(false);
    expect((await added(store, account.id, 'domain', 'example.com')).id).toBeGreaterThan(second.id);
  });

  it('are sorted by value, type or reason, those without a reason last', async () => {
    const store = await lab.open();
    const { id } = (await member(store)).account;
    await added(store, id, 'domain', 'b.example', 'Spam');
    await added(store, id, 'email', 'c@c.example', 'bounces');
    await added(store, id, 'domain', 'a.example');
    const sorted = async (by: FilterSort, descending: boolean, page = { offset: 0, limit: 100 }) =>
      (await store.filters.list(id, { ...ALL, ...page, sort: { by, descending } })).items.map(({ value }) => value);
    expect(await sorted('added', false)).toEqual(['b.example', 'c@c.example', 'a.example']);
    expect(await sorted('value', false)).toEqual(['a.example', 'b.example', 'c@c.example']);
    expect(await sorted('value', true, { offset: 1, limit: 1 })).toEqual(['b.example']);
    // The newest first where the type is the same.
    expect(await sorted('type', false)).toEqual(['a.example', 'b.example', 'c@c.example']);
    expect(await sorted('type', true)).toEqual(['c@c.example', 'a.example', 'b.example']);
    expect(await sorted('reason', false)).toEqual(['c@c.example', 'b.example', 'a.example']);
    expect(await sorted('reason', true)).toEqual(['b.example', 'c@c.example', 'a.example']);
  });

  it('belong to their account: a stranger neither sees, removes nor is blocked by them', async () => {
    const store = await lab.open();
    const owner = await member(store);
    const stranger = await member(store);
    const filter = await added(store, owner.account.id, 'domain', 'example.com');
    expect(await store.filters.list(stranger.account.id, ALL)).toEqual({ items: [], total: 0 });
    expect(await store.filters.remove(stranger.account.id, filter.id)).toBe(false);
    expect(await add(store, stranger.account.id, 'domain', 'other.com')).toMatchObject({ added: true });
    expect(await store.charging.admit(asking(stranger))).toMatchObject({ outcome: 'admitted', filter: null });
    expect(await store.charging.admit(asking(owner))).toMatchObject({ outcome: 'settled' });
  });

  it('have ids that tell nothing of other accounts, and are never given again', async () => {
    const store = await lab.open();
    const [one, other] = [(await member(store)).account.id, (await member(store)).account.id];
    const ids = [];
    for (const value of ['a.example', 'b.example', 'c.example']) {
      ids.push((await added(store, one, 'domain', value)).id);
      await store.filters.addMany(other, [{ filterType: 'domain', value, reason: null, ...BLOCKS }]);
    }
    expect(ids).toEqual([1, 2, 3]);
    expect((await store.filters.list(other, ALL)).items.map(({ id }) => id)).toEqual([3, 2, 1]);
    expect(await store.filters.remove(one, 3)).toBe(true);
    expect((await added(store, one, 'domain', 'd.example')).id).toBe(4);
    expect((await store.filters.list(other, ALL)).total).toBe(3);
  });

  it('have ids in order, however many are added at once', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const values = Array.from({ length: 30 }, (_, i) => `${i}.example`);
    await Promise.all(
      values.map((value, i) =>
        i % 2 === 0
          ? add(store, account.id, 'domain', value)
          : store.filters.addMany(account.id, [{ filterType: 'domain', value, reason: null, ...BLOCKS }]),
      ),
    );
    const { items } = await store.filters.list(account.id, ALL);
    expect(items.map(({ id }) => id)).toEqual(values.map((_, i) => values.length - i));
  });

  it('are paged and narrowed by type', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const inputs = Array.from({ length: 2_500 }, (_, i) => ({
      filterType: i % 2 === 0 ? ('email' as const) : ('domain' as const),
      value: `${i}.example`,
      reason: null,
      ...BLOCKS,
    }));
    const many = async (some: typeof inputs) =>
      (await store.filters.addMany(account.id, some)).filter((outcome) => outcome.added).length;
    expect(await many(inputs)).toBe(2_500);
    expect(await many([...inputs, ...inputs])).toBe(0);
    expect(await many([])).toBe(0);
    const page = await store.filters.list(account.id, { ...ALL, filterType: 'domain', offset: 10, limit: 3 });
    expect(page.total).toBe(1_250);
    expect(page.items.map((filter) => filter.value)).toEqual(['2479.example', '2477.example', '2475.example']);
    expect(await store.filters.list(account.id, { ...ALL, offset: 2_500 })).toEqual({ items: [], total: 2_500 });
  });

  it.each([
    ['%', ['100%.example']],
    ['_', ['a_b.example']],
    ['\\', ['back\\slash.example']],
    ["'; DROP TABLE filters; --", []],
    ['a_b', ['a_b.example']],
    ['axb', ['axb.example']],
    ['GRÜSSE', ['axb.example']],
    ['straße', ['axb.example']],
    ['\0', ['nul.example']],
    ['\uD800', ['lone.example']],
    ['example', ['100%.example', 'a_b.example', 'axb.example', 'back\\slash.example', 'lone.example', 'nul.example']],
    ['', ['100%.example', 'a_b.example', 'axb.example', 'back\\slash.example', 'lone.example', 'nul.example']],
    ['nothing', []],
  ])('are searched literally, in value and reason: %j', async (query, expected) => {
    const store = await lab.open();
    const { account } = await member(store);
    await add(store, account.id, 'email', '100%.example');
    await add(store, account.id, 'email', 'a_b.example');
    await add(store, account.id, 'email', 'axb.example', 'Grüße aus der Straße, Grüsse');
    await add(store, account.id, 'email', 'back\\slash.example');
    await add(store, account.id, 'email', 'nul.example', 'a\0b');
    await add(store, account.id, 'email', 'lone.example', 'a\uD800b');
    const found = await store.filters.list(account.id, { ...ALL, query });
    // NUL and lone surrogates are both kept as U+FFFD.
    const values = found.items.map((filter) => filter.value).sort();
    const same = ['\0', '\uD800'].includes(query) ? ['lone.example', 'nul.example'] : expected;
    expect(values).toEqual(same);
    expect(found.total).toBe(same.length);
  });

  it('match email before domain before IP, the most specific first', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id } = who.account;
    const filterKeys = {
      email: 'jane@a.b.example',
      mailbox: null,
      domains: ['a.b.example', 'b.example', 'example'],
      ip: '192.0.2.7',
    };
    const matched = async () => {
      let seen: number | null = null;
      const decide = (filter: FilterRule | null) => {
        seen = filter?.id ?? null;
        return null;
      };
      await store.charging.admit(asking(who, { filterKeys, decide }));
      return seen;
    };
    expect(await matched()).toBeNull();
    const order: [FilterType, string][] = [
      ['ip_address', '0.0.0.0/0'],
      ['ip_address', '192.0.2.0/24'],
      ['ip_address', '192.0.2.7'],
      ['domain', 'example'],
      ['domain', 'b.example'],
      ['domain', 'a.b.example'],
      ['email', 'jane@a.b.example'],
    ];
    for (const [type, value] of order) {
      const filter = await added(store, id, type, value);
      expect(await matched()).toBe(filter.id);
    }
    for (const filter of (await store.filters.list(id, ALL)).items) {
      expect(await matched()).toBe(filter.id);
      await store.filters.remove(id, filter.id);
    }
    expect(await matched()).toBeNull();
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('cost nothing when they match, but do not stand in for a plan', async () => {
    const store = await lab.open();
    const who = await member(store, { plan: 'starter', credits: 0 });
    await add(store, who.account.id, 'email', 'jane@example.com');
    expect(await store.charging.admit(asking(who, { level: 'smtp' }))).toMatchObject({ code: 'plan_upgrade_required' });
    const blocked = await store.charging.admit(asking(who));
    expect(blocked).toMatchObject({
      outcome: 'settled',
      record: { credits: 0, reason: 'blocked_by_filter' },
      balance: 0,
    });
    expect(await store.verifications.list(who.account.id, { offset: 0, limit: 10 })).toMatchObject({ total: 1 });
    expect(await store.usage.summary(who.account.id, 0, lab.clock.now() + 1)).toMatchObject({
      requests: 1,
      credits: 0,
    });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('are in force for the next request, whichever process changed them', async () => {
    const store = await lab.open();
    const other = await lab.open();
    const who = await member(store);
    for (let round = 0; round < 5; round++) {
      expect(await store.charging.admit(asking(who))).toMatchObject({ outcome: 'admitted' });
      const filter = await added(other, who.account.id, 'domain', 'example.com');
      expect(await store.charging.admit(asking(who))).toMatchObject({ outcome: 'settled' });
      await other.filters.remove(who.account.id, filter.id);
    }
  });

  it('added and removed by many at once are counted right', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const tries = Array.from({ length: 30 }, (_, i) => add(store, account.id, 'domain', `d${i % 10}.example`));
    const results = await Promise.all(tries);
    expect(results.filter((result) => result.added)).toHaveLength(10);
    const { items } = await store.filters.list(account.id, ALL);
    await Promise.all([...items, ...items].map((filter) => store.filters.remove(account.id, filter.id)));
    expect(await lab.sql('SELECT filter_domains, filter_emails, filter_ips FROM accounts')).toMatchObject([
      { filter_domains: lab.engine === 'sqlite' ? 0 : '0' },
    ]);
  });

  it('are added and removed by somebody, once each in the audit log', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const input = { filterType: 'email' as const, value: 'jane@example.com', reason: 'spam', ...BLOCKS };
    const result = await store.filters.add(account.id, input, BY);
    await store.filters.add(account.id, input, BY);
    const { id } = (result as Extract<typeof result, { added: true }>).filter;
    await store.filters.remove(account.id, id, BY);
    await store.filters.remove(account.id, id, BY);
    const rows = await store.auditLog.list(account.id, { before: null, limit: 10 });
    const detail = { filter: id, filter_type: 'email', reason: 'spam' };
    expect(rows).toMatchObject([
      { action: 'filter.removed', target: 'jane@example.com', detail, actor: BY },
      { action: 'filter.added', target: 'jane@example.com', detail, actor: BY },
    ]);
    expect(rows).toHaveLength(2);
  });

  it('block one request of those that share a transaction, and charge the others', async () => {
    const store = await lab.open();
    const [who, other] = [await member(store), await member(store)];
    await added(store, who.account.id, 'email', 'other@example.com');
    for (const one of [who, other, who, other]) await verifyNow(store, one);
    const id = newVerificationId();
    const decide = (found: unknown) => verdict(id, found === null ? {} : { reason: 'blocked_by_filter', credits: 0 });
    const answers = await Promise.all([
      verifyNow(store, who),
      store.charging.admit(asking(who, { id, filterKeys: { email: 'other@example.com' }, decide })),
      verifyNow(store, other),
    ]);
    expect(answers.map(({ outcome, balance }) => [outcome, balance])).toEqual([97, 97, 97].map((n) => ['settled', n]));
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('expire by the clock of the store, on every node, and are removed 30 days later', async () => {
    const stores = [await lab.open(), await lab.open()];
    const [store] = stores as [Store, Store];
    const who = await member(store);
    const { id } = who.account;
    const addUntil = async (value: string, afterMs: number | null) => {
      const expiresAt = afterMs === null ? null : lab.clock.now() + afterMs;
      const input = { ...BLOCKS, filterType: 'domain' as const, value, reason: null, expiresAt };
      return (await store.filters.addMany(id, [input]))[0]!;
    };
    await addUntil('example.com', 1_000);
    await addUntil('later.example', 2_000);
    await addUntil('kept.example', null);
    const outcomes = async () =>
      Promise.all(stores.map(async (one) => (await one.charging.admit(asking(who))).outcome));
    expect(await outcomes()).toEqual(['settled', 'settled']);
    lab.clock.advance(999);
    expect(await outcomes()).toEqual(['settled', 'settled']);
    lab.clock.advance(1);
    expect(await outcomes()).toEqual(['admitted', 'admitted']);
    const keys = { ...NO_KEYS, domains: ['example.com', 'later.example'] };
    expect((await store.filters.matchMany(id, () => [keys]))?.filters).toMatchObject([{ value: 'later.example' }]);
    const listed = async () =>
      (await store.filters.list(id, ALL)).items.map(({ value, expired }) => [value, expired] as const);
    expect(await listed()).toEqual([
      ['kept.example', false],
      ['later.example', false],
      ['example.com', true],
    ]);
    lab.clock.advance(FILTER_KEPT_DAYS * DAY_MS - 1);
    await store.upkeep.purge(lab.clock.now());
    expect(await listed()).toHaveLength(3);
    lab.clock.advance(1);
    expect(await store.upkeep.purge(lab.clock.now())).toMatchObject({ deleted: { filters: 1 } });
    lab.clock.advance(1_000);
    expect(await store.upkeep.purge(lab.clock.now())).toMatchObject({ deleted: { filters: 1 } });
    expect(await listed()).toEqual([['kept.example', false]]);
    const counters = await lab.sql('SELECT filter_domains, filter_domain_rules, filters_expire_at FROM accounts');
    expect(counters.map((row) => Object.values(row).map((value) => value && Number(value)))).toEqual([[1, 0, null]]);
    expect(await store.usage.storage(id)).toMatchObject({ filters: { used: 1 } });
  });

  it('that have expired make room for the same value, alone and in an import', async () => {
    const store = await lab.open();
    const { id } = (await member(store)).account;
    const input = { ...BLOCKS, filterType: 'domain' as const, value: 'a.example', reason: null };
    for (const way of ['add', 'addMany'] as const) {
      const expiring = { ...input, expiresAt: lab.clock.now() + 1_000 };
      const again = async () =>
        way === 'add' ? store.filters.add(id, expiring) : (await store.filters.addMany(id, [expiring]))[0];
      expect(await again()).toMatchObject({ added: true });
      expect(await again()).toMatchObject({ added: false });
      lab.clock.advance(1_000);
      expect(await again()).toMatchObject({ added: true });
      expect(await store.filters.list(id, ALL)).toMatchObject({ total: 1 });
      lab.clock.advance(1_000);
    }
    expect(await store.usage.storage(id)).toMatchObject({ filters: { used: 1 } });
  });

  it('let through what they allow, which is charged; what changes is so for the next request of any node', async () => {
    const [store, other] = [await lab.open(), await lab.open()];
    const who = await member(store);
    const block = await added(store, who.account.id, 'domain', 'example.com');
    for (let round = 0; round < 4; round++) {
      expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
      expect(await store.charging.admit(asking(who))).toMatchObject({ record: { reason: 'blocked_by_filter' } });
      await other.filters.change(who.account.id, block.id, () => ({ action: 'allow' }));
      expect(await store.charging.admit(asking(who))).toMatchObject({
        outcome: 'admitted',
        filter: { id: block.id, action: 'allow' },
      });
      await other.filters.change(who.account.id, block.id, () => ({ action: 'block' }));
    }
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('count each result that they decided or let pass once, with its charge', async () => {
    const stores = [await lab.open(), await lab.open()];
    const who = await member(stores[0]!);
    const filter = await added(stores[0]!, who.account.id, 'domain', 'example.com');
    const passed = await added(stores[0]!, who.account.id, 'domain', 'other.example');
    await Promise.all(Array.from({ length: 40 }, (_, i) => stores[i % 2]!.charging.admit(asking(who))));
    const held = asking(who, { id: newVerificationId(), filterKeys: { domains: [] } });
    const { caller } = await stores[1]!.charging.admit(held);
    const settlement = {
      caller: caller!,
      holdId: held.verify!.id,
      idempotency: null,
      record: verdict(held.verify!.id, { filterId: passed.id }),
    };
    for (let i = 0; i < 2; i++) await stores[1]!.charging.settle(settlement);
    const hits = async (of: Filter) => (await stores[0]!.filters.get(who.account.id, of.id))!;
    expect(await hits(passed)).toMatchObject({ hits: 1, lastHitAt: lab.clock.now() });
    expect((await hits(filter)).hits).toBe(40);
    expect(await stores[0]!.accounts.audit()).toEqual([]);
  });

  it('of mail hosts are looked for later where the hosts are not known: until then the price is held', async () => {
    const store = await lab.open();
    const who = await member(store);
    const decide = (found: FilterRule | null) =>
      verdict('never', found === null ? {} : { reason: 'blocked_by_filter', credits: 0 });
    const input = { ...BLOCKS, filterType: 'mx_host' as const, value: '*.example.net', reason: null };
    const result = await store.filters.add(who.account.id, input);
    const unknown = asking(who, { filterKeys: { mxHosts: null }, decide });
    expect(await store.charging.admit(unknown)).toMatchObject({
      outcome: 'admitted',
      filter: null,
      matchesHosts: true,
    });
    const known = asking(who, { filterKeys: { mxHosts: ['a.mx.example.net'] } });
    expect(await store.charging.admit(known)).toMatchObject({ outcome: 'settled', record: { credits: 0 } });
    const keys = { ...NO_KEYS, mxHosts: ['a.mx.example.net'] };
    expect(await store.filters.matchMany(who.account.id, () => [keys, NO_KEYS])).toMatchObject({
      filters: [result.added && { id: result.filter.id }, null],
      hasHosts: true,
    });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('need an account', async () => {
    const store = await lab.open();
    const input = { filterType: 'domain' as const, value: 'x.example', reason: null, ...BLOCKS };
    const none = 'acc_none' as AccountId;
    await expect(store.filters.add(none, input)).rejects.toThrow(/no such account/);
    await expect(store.filters.addMany(none, [input])).rejects.toThrow(/no such account/);
  });
});
