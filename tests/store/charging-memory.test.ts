/** Charging by what a node remembers: whatever others change meanwhile decides about the very next request. */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { expect, it } from 'vitest';
import { hashApiKey, newApiKey } from '../../src/kernel/ids.ts';
import type { AccountId, Admission, Store } from '../../src/store/store.ts';
import { describeStores, ENGINE } from '../lab/stores.ts';
import { asking, BLOCKS, type Member, member, newVerificationId, verdict, verifyNow } from './cast.ts';
import { commitProxy } from './commit-proxy.ts';
import { BY } from './people.ts';
import { startProcess } from './processes.ts';

const WITHIN = { timeout: 40_000, interval: 50 };

/** What becomes of a request: its outcome, the code of its refusal, or the reason of its record. */
function outcomeOf(admission: Admission): string {
  if (admission.outcome === 'refused') return admission.code;
  return admission.outcome === 'settled' ? (admission.record.reason ?? 'settled') : admission.outcome;
}

/** A request that a matching filter blocks. Otherwise its verdict is `found`. */
function ask(store: Store, who: Pick<Member, 'hash'>, found: Parameters<typeof verdict>[1] = {}): Promise<Admission> {
  const id = newVerificationId();
  const blocked = { status: 'bad', reason: 'blocked_by_filter', credits: 0 } as const;
  return store.charging.admit(asking(who, { id, decide: (filter) => verdict(id, filter === null ? found : blocked) }));
}

/** Until it knows the account and the key. */
async function warmUp(store: Store, who: Member): Promise<void> {
  for (let i = 0; i < 3; i += 1) await verifyNow(store, who);
}

const filter = { filterType: 'domain', value: 'example.com', reason: null, ...BLOCKS } as const;

describeStores('a node that has opened what charging needs', (lab) => {
  it.skipIf(ENGINE !== 'postgres')('opens no more connections with its first charges', async () => {
    const store = await lab.open();
    const members = await Promise.all(Array.from({ length: 12 }, () => member(store)));
    const sessions = async () =>
      (
        await lab.sql(`SELECT pid::text FROM pg_stat_activity WHERE datname = current_database()
        AND backend_type = 'client backend' AND pid <> pg_backend_pid()`)
      ).map(({ pid }) => pid);
    await store.charging.open();
    const before = await sessions();
    await Promise.all(members.map((who) => verifyNow(store, who)));
    expect(before).toEqual(expect.arrayContaining(await sessions()));
  });
});

describeStores('a node that remembers an account', (lab) => {
  const postgres = it.skipIf(ENGINE !== 'postgres');

  it.each<[string, (store: Store, who: Member) => Promise<unknown>, string]>([
    ['is suspended', set({ status: 'suspended' }), 'invalid_api_key'],
    ['is deleted', (store, { account }) => store.accounts.remove(account.id), 'invalid_api_key'],
    ['has a lower rate limit', set({ rateLimit: 1 }), 'rate_limit_exceeded'],
    [
      'has spent its credits',
      (store, { account }) => store.accounts.grant(account.id, -97, 'spent'),
      'insufficient_credits',
    ],
    ['has a filter', (store, { account }) => store.filters.add(account.id, filter), 'blocked_by_filter'],
    ['has imported filters', (store, { account }) => store.filters.addMany(account.id, [filter]), 'blocked_by_filter'],
    ['has revoked the key', (store, { key }) => store.keys.revoke(key.id, BY), 'revoked_api_key'],
    [
      'has rolled the key without grace',
      (store, { account, key }) =>
        store.keys.roll(account.id, key.id, { hash: 'other', lastFour: 'abcd', graceMs: 0 }, BY),
      'revoked_api_key',
    ],
    ['has limited the key to an IP', change({ allowIps: ['198.51.100.1'] }), 'ip_not_allowed'],
    ['has limited the key to a scope', change({ scopes: ['usage'] }), 'scope_missing'],
    ['has given the key a budget that is spent', change({ budget: 2 }), 'key_budget_spent'],
  ])('notices when it %s, on another node', async (_what, change, expected) => {
    const [near, far] = [await lab.open(), await lab.open()];
    const who = await member(near);
    await warmUp(near, who);
    await change(far, who);
    // The first one learns it; those after go by what it has learned.
    for (let i = 0; i < 4; i += 1) expect(outcomeOf(await ask(near, who))).toBe(expected);
    expect(await near.accounts.audit()).toEqual([]);
  });

  it.each([
    ["scopes = 'usage'", 'scope_missing'],
    [`budget = 2, budget_month = ${Date.UTC(2026, 10, 1)}, budget_spent = 2`, 'key_budget_spent'],
  ])('notices that a key has %s, whoever has written only that', async (columns, expected) => {
    const store = await lab.open();
    const who = await member(store);
    await warmUp(store, who);
    await lab.sql(`UPDATE keys SET ${columns} WHERE id = '${who.key.id}'`);
    for (let i = 0; i < 2; i += 1) expect(outcomeOf(await ask(store, who))).toBe(expected);
  });

  it('notices when a filter that it has met is removed, and the next one is added', async () => {
    const [near, far] = [await lab.open(), await lab.open()];
    const who = await member(near);
    await warmUp(near, who);
    for (let round = 0; round < 3; round += 1) {
      const added = await far.filters.add(who.account.id, filter);
      expect(outcomeOf(await ask(near, who))).toBe('blocked_by_filter');
      if (added.added) await far.filters.remove(who.account.id, added.filter.id);
      expect(outcomeOf(await ask(near, who))).toBe('settled');
    }
  });

  it('notices that the credits are spent, on another node, where the verdict itself would cost nothing', async () => {
    const [near, far] = [await lab.open(), await lab.open()];
    const who = await member(near);
    await warmUp(near, who);
    await far.accounts.grant(who.account.id, -97, 'spent');
    expect(outcomeOf(await ask(near, who, { credits: 0 }))).toBe('insufficient_credits');
  });

  it('notices what has become of a key after another key of the account was used', async () => {
    const [near, far] = [await lab.open(), await lab.open()];
    const who = await member(near);
    const other = { hash: hashApiKey(newApiKey('live')) };
    const second = { name: 'second', hash: other.hash, lastFour: 'abcd', allowIps: [] };
    const key = await near.keys.create(who.account.id, second);
    await warmUp(near, who);
    for (let i = 0; i < 3; i += 1) await ask(near, other);
    await far.keys.revoke(key.id, BY);
    for (let i = 0; i < 3; i += 1) expect(outcomeOf(await ask(near, who))).toBe('settled');
    expect(outcomeOf(await ask(near, other))).toBe('revoked_api_key');
  });

  it('spends no more than the budget of a key, whichever node is asked', async () => {
    const stores = await Promise.all(Array.from({ length: 3 }, () => lab.open()));
    const who = await member(stores[0]!, { budget: 12 });
    const answers: string[] = [];
    for (let i = 0; i < 8; i += 1) for (const store of stores) answers.push(outcomeOf(await verifyNow(store, who)));
    expect(answers.filter((answer) => answer === 'settled')).toHaveLength(12);
    expect(answers.slice(12)).toEqual(Array.from({ length: 12 }, () => 'key_budget_spent'));
  });

  it('notices when the key expires', async () => {
    const store = await lab.open();
    const who = await member(store, { expiresAt: lab.clock.now() + 60_000 });
    await warmUp(store, who);
    lab.clock.advance(60_000);
    expect(outcomeOf(await ask(store, who))).toBe('expired_api_key');
  });

  const overtakes: [string, (who: Member) => string, string][] = [
    [
      'suspends it',
      ({ account }) => `UPDATE accounts SET status = 'suspended' WHERE id = '${account.id}'`,
      'invalid_api_key',
    ],
    ['revokes its key', ({ key }) => `UPDATE keys SET revoked_at = 1 WHERE id = '${key.id}'`, 'revoked_api_key'],
    [
      'adds a filter',
      ({ account: { id } }) =>
        `INSERT INTO filters (account_id, id, filter_type, value, created_at) VALUES ('${id}', 2, 'domain', 'example.com', 1);
         UPDATE accounts SET filter_domains = filter_domains + 1 WHERE id = '${id}'`,
      'blocked_by_filter',
    ],
    [
      'spends its credits',
      ({ account }) => `UPDATE accounts SET balance = 0 WHERE id = '${account.id}'`,
      'insufficient_credits',
    ],
  ];
  const each = overtakes.flatMap(([what, ...rest]) =>
    (['without filters', 'with a filter of another domain'] as const).map((having) => [what, having, ...rest] as const),
  );
  postgres.each(each)(
    'waits for a transaction that %s, and goes by what that has left, %s',
    async (_what, having, statement, expected) => {
      const store = await lab.open();
      const who = await member(store);
      if (having !== 'without filters') await store.filters.add(who.account.id, { ...filter, value: 'example.net' });
      await warmUp(store, who);
      const other = new pg.Client({ connectionString: lab.url });
      await other.connect();
      await other.query(`BEGIN; SELECT id FROM accounts WHERE id = '${who.account.id}' FOR NO KEY UPDATE`);
      const asked = ask(store, who);
      const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      await expect.poll(() => lab.sql(waiting), WITHIN).toHaveLength(1);
      await other.query(`${statement(who)}; COMMIT`);
      await other.end();
      expect(outcomeOf(await asked)).toBe(expected);
      expect(await store.verifications.list(who.account.id, { offset: 0, limit: 1 })).toMatchObject({
        total: expected === 'blocked_by_filter' ? 4 : 3,
      });
    },
  );

  it('spends the last credit once, whichever node is asked, and says what each has left', async () => {
    const stores = await Promise.all(Array.from({ length: 3 }, () => lab.open()));
    const who = await member(stores[0]!, { credits: 100 });
    for (const store of stores) await warmUp(store, who);
    const answers: Admission[] = [];
    const spend = async (store: Store) => {
      for (let i = 0; i < 16; i += 1)
        answers.push(...(await Promise.all(Array.from({ length: 1 + (i % 4) }, () => verifyNow(store, who)))));
    };
    await Promise.all(stores.map(spend));
    const settled = answers.filter((answer) => answer.outcome === 'settled');
    expect(settled.map(({ balance }) => balance).sort((a, b) => b - a)).toEqual(
      Array.from({ length: 91 }, (_, i) => 90 - i),
    );
    expect(outcomeOf(await verifyNow(stores[0]!, who))).toBe('insufficient_credits');
    expect(await stores[0]!.accounts.audit()).toEqual([]);
  });

  it('counts one window with the other nodes, and says what is left of it', async () => {
    const stores = await Promise.all(Array.from({ length: 3 }, () => lab.open()));
    const who = await member(stores[0]!, { credits: 1_000, rateLimit: 100 });
    for (const store of stores) await warmUp(store, who);
    const asked = stores.map(async (store) => {
      const answers: Admission[] = [];
      for (let i = 0; i < 20; i += 1)
        answers.push(...(await Promise.all([verifyNow(store, who), verifyNow(store, who)])));
      return answers;
    });
    const answers = (await Promise.all(asked)).flat();
    const settled = answers.filter((answer) => answer.outcome === 'settled');
    const left = settled.map(({ window }) => window.remaining).sort((a, b) => b - a);
    expect(left).toEqual(Array.from({ length: 91 }, (_, i) => 90 - i));
    expect(answers.filter((answer) => outcomeOf(answer) === 'rate_limit_exceeded')).toHaveLength(29);
    lab.clock.advance(300_000);
    expect(outcomeOf(await verifyNow(stores[1]!, who))).toBe('settled');
  });

  postgres.each(['before', 'after'] as const)(
    'charges once when the connection is lost %s the server has charged',
    async (moment) => {
      const proxy = await commitProxy(lab.url);
      const store = await lab.open({ url: proxy.url });
      const [who, other] = [await member(store), await member(store)];
      await warmUp(store, who);
      await warmUp(store, other);
      proxy.cut(moment);
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => [verifyNow(store, who), verifyNow(store, other)]).flat(),
      );
      expect(answers.map(outcomeOf)).toEqual(answers.map(() => 'settled'));
      expect(proxy.cuts).toBe(1);
      for (const { account } of [who, other]) {
        expect(await store.accounts.get(account.id)).toMatchObject({ balance: 87, locked: 0 });
        expect(await store.verifications.list(account.id, { offset: 0, limit: 1 })).toMatchObject({ total: 13 });
      }
      expect(await store.accounts.audit()).toEqual([]);
      await store.close();
      await proxy.close();
    },
  );
});

describeStores('a node whose clock stood still', (lab) => {
  const postgres = it.skipIf(ENGINE !== 'postgres');

  postgres('records by the clock of the server', async () => {
    const store = await lab.open({ time: 'store' });
    const who = await member(store);
    await warmUp(store, who);
    const serverTime = async () => Number((await lab.sql('SELECT extract(epoch FROM now()) * 1000 AS ms'))[0]!.ms);
    const before = await serverTime();
    lab.clock.advance(-60_000);
    expect(outcomeOf(await ask(store, who))).toBe('settled');
    const [newest] = await lab.sql('SELECT created_at FROM verifications ORDER BY seq DESC LIMIT 1');
    // By as much as a statement takes to get there and back, and no more.
    expect(Number(newest!.created_at)).toBeGreaterThan(before - 2_000);
  });

  postgres(
    'because it was frozen after it had judged: keeps nobody waiting, and charges by what is so now',
    async () => {
      const store = await lab.open({ time: 'store' });
      const who = await member(store);
      const frozen = await startProcess(lab.url, 'freeze', who.hash, 3);
      frozen.tell('go');
      const state = () => readFileSync(`/proc/${frozen.child.pid}/stat`, 'latin1').split(') ')[1]?.[0];
      await expect.poll(state, WITHIN).toBe('T');
      expect(outcomeOf(await ask(store, who))).toBe('settled');
      await store.accounts.set(who.account.id, { status: 'suspended' });
      frozen.child.kill('SIGCONT');
      await frozen.ended();
      expect(frozen.said).toEqual(['refused']);
      expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 96, locked: 0 });
      expect(await store.accounts.audit()).toEqual([]);
    },
  );
});

function set(to: Parameters<Store['accounts']['set']>[1]) {
  return (store: Store, { account }: { account: { id: AccountId } }) => store.accounts.set(account.id, to);
}

function change(by: Parameters<Store['keys']['update']>[2]) {
  return (store: Store, { account, key }: { account: { id: AccountId }; key: { id: string } }) =>
    store.keys.update(account.id, key.id, by);
}
