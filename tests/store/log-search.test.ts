import { expect, it } from 'vitest';
import type { AccountId, LogSearch, Store, VerificationRecord } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { type Member, member, newVerificationId, verifyNow } from './cast.ts';

const ALL: LogSearch = {
  email: null,
  id: null,
  reason: null,
  keyId: null,
  status: null,
  before: null,
  limit: 50,
};

async function logged(store: Store, who: Member, more: Partial<VerificationRecord> = {}): Promise<string> {
  const id = newVerificationId();
  await verifyNow(store, who, more, { id });
  return id;
}

const emails = async (store: Store, account: AccountId, search: Partial<LogSearch>) =>
  (await store.verifications.search(account, { ...ALL, ...search })).items.map((item) => item.email);

describeStores('the log', (lab) => {
  it('is limited to a time, wherever in the log that is', async () => {
    const store = await lab.open();
    const who = await member(store);
    for (let n = 0; n < 40; n++) await logged(store, who, { email: `p${n}@a.example` });
    const [began, step] = [Date.UTC(2026, 0, 1), 10 * 60_000];
    const nth = '(seq - (SELECT min(seq) FROM verifications))';
    await lab.sql(`UPDATE verifications SET created_at = ${began} + ${step} * ${nth}`);
    const times = Array.from({ length: 41 }, (_, n) => began + n * step);
    const found = (search: Partial<LogSearch>) => emails(store, who.account.id, search);
    expect(await found({ from: times[3]!, to: times[6]! })).toEqual(['p5@a.example', 'p4@a.example', 'p3@a.example']);
    expect(await found({ from: times[38]! })).toEqual(['p39@a.example', 'p38@a.example']);
    expect(await found({ to: times[2]! })).toEqual(['p1@a.example', 'p0@a.example']);
    expect(await found({ to: times[0]! })).toEqual([]);
    expect(await found({ from: times[40]! })).toEqual([]);
    expect(await found({ from: times[9]!, to: times[12]!, text: '0@a.' })).toEqual(['p10@a.example']);
  });

  it('is searched newest first, page by page', async () => {
    const store = await lab.open();
    const who = await member(store);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      lab.clock.advance(1);
      ids.unshift(await logged(store, who));
    }
    const first = await store.verifications.search(who.account.id, { ...ALL, limit: 2 });
    expect(first.items.map((item) => item.id)).toEqual(ids.slice(0, 2));
    expect(first).toMatchObject({ next: first.items[1]!.seq, searchedTo: lab.clock.now() - 1 });
    expect(first.items[0]).toEqual({
      ...(await store.verifications.get(who.account.id, ids[0]!)),
      seq: expect.any(Number),
    });
    const second = await store.verifications.search(who.account.id, { ...ALL, limit: 2, before: first.next });
    expect(second.items.map((item) => item.id)).toEqual(ids.slice(2, 4));
    const third = await store.verifications.search(who.account.id, { ...ALL, limit: 2, before: second.next });
    expect(third.items.map((item) => item.id)).toEqual(ids.slice(4));
    expect(third).toMatchObject({ next: null, searchedTo: null });
  });

  it('is its account’s only, however it is asked', async () => {
    const store = await lab.open();
    const owner = await member(store);
    const stranger = await member(store);
    const id = await logged(store, owner);
    for (const search of [{}, { id }, { email: 'jane' }, { email: '' }, { status: ['good' as const] }]) {
      expect(await emails(store, owner.account.id, search), JSON.stringify(search)).toEqual(['jane@example.com']);
      expect(await emails(store, stranger.account.id, search), JSON.stringify(search)).toEqual([]);
    }
  });

  it.each([
    ['jane', ['Jane@Example.com', 'jane.doe@example.com']],
    ['JANE@', ['Jane@Example.com']],
    ['jane@example.com', ['Jane@Example.com']],
    ['jane@example.org', []],
    ['%', ['%@example.com']],
    ['j%', []],
    ['_', ['_@example.com']],
    ['\\', ['\\@example.com']],
    ["'", []],
    ['grüße', ['grüße@example.com']],
    ['gr', ['grüße@example.com']],
    ['\u{10ffff}', ['\u{10ffff}\u{10ffff}z']],
    ['\ud7ff', ['\ud7ff@example.com']],
    ['\0', ['\ufffd@example.com']],
    ['\ud800', ['\ufffd@example.com']],
  ])('is searched for addresses that begin with %j, literally and without regard to case', async (email, found) => {
    const store = await lab.open();
    const who = await member(store);
    const some = ['Jane@Example.com', 'jane.doe@example.com', '%@example.com', '_@example.com', '\\@example.com'];
    const odd = [
      'grüße@example.com',
      '\u{10ffff}\u{10ffff}z',
      '\ud7ff@example.com',
      '\ue000x',
      'a\0b',
      '\0@example.com',
    ];
    for (const one of [...some, ...odd]) await logged(store, who, { email: one });
    expect((await emails(store, who.account.id, { email })).sort()).toEqual(found.toSorted());
  });

  it('takes addresses of any length', async () => {
    const store = await lab.open();
    const who = await member(store);
    const long = `${'ä😀'.repeat(2_000)}@example.com`;
    await logged(store, who, { email: long });
    expect(await emails(store, who.account.id, { email: long })).toEqual([long]);
    expect(await emails(store, who.account.id, { email: 'ä😀ä' })).toEqual([long]);
  });

  it('is searched by id, reason, key and outcome, all at once', async () => {
    const store = await lab.open();
    const who = await member(store);
    const key = await store.keys.create(who.account.id, { name: 'b', hash: 'b', lastFour: 'abcd', allowIps: [] });
    const other = { ...who, hash: 'b' };
    const bad = { status: 'bad', reason: 'null_mx' } as const;
    const id = await logged(store, who, { email: 'a@example.com', ...bad });
    await logged(store, other, { email: 'b@example.com', ...bad });
    await logged(store, who, { email: 'c@example.com', reason: 'catch_all' });
    await logged(store, who, { email: 'd@example.com' });
    const found = async (search: Partial<LogSearch>) =>
      (await emails(store, who.account.id, search)).map((email) => email[0]).join('');
    expect(await found({ reason: ['null_mx'] })).toBe('ba');
    expect(await found({ reason: ['none'] })).toBe('d');
    expect(await found({ reason: ['none', 'catch_all'] })).toBe('dc');
    expect(await found({ reason: ['none', 'catch_all'], not: ['reason'] })).toBe('ba');
    expect(await found({ keyId: [key.id, who.key.id], status: ['good'] })).toBe('dc');
    expect(await found({ reason: ['catch_all'], status: ['bad'] })).toBe('');
    expect(await found({ keyId: [key.id] })).toBe('b');
    expect(await found({ keyId: [who.key.id], status: ['bad'] })).toBe('a');
    expect(await found({ status: ['good'] })).toBe('dc');
    expect(await found({ id })).toBe('a');
    expect(await found({ id, status: ['good'] })).toBe('');
    expect(await found({ id, email: 'b' })).toBe('');
    expect(await found({ id: 'ver_none' })).toBe('');
    expect(await found({ email: 'b@', reason: ['null_mx'], keyId: [key.id], status: ['bad'] })).toBe('b');
    expect(await found({ email: 'b@', keyId: [who.key.id] })).toBe('');
    expect(await found({ reason: ['null_mx'], keyId: ['\ud800'] })).toBe('');
  });

  it('is gone through in stretches of 5,000 rows, and nothing of it is missed', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 0 });
    const stranger = await member(store);
    // Every fourth row is somebody else's; the oldest of ours is the only one for smtp.
    const row = (i: number) => {
      const account = i % 4 === 0 ? stranger.account.id : who.account.id;
      const level = i === 1 ? 'smtp' : 'mx';
      return `('ver_${i}', '${account}', 'k', 'p${i}@example.com', '${level}', 'mx', 'good', 'unknown', 0, 1, '{}', ${i})`;
    };
    const columns =
      'id, account_id, key_id, email, requested, validation_type, status, deliverability, credits, duration_ms, body, created_at';
    for (let from = 1; from <= 16_000; from += 4_000) {
      const rows = Array.from({ length: 4_000 }, (_, i) => row(from + i));
      await lab.sql(`INSERT INTO verifications (${columns}) VALUES ${rows.join(', ')}`);
    }
    const search = (more: Partial<LogSearch>) => store.verifications.search(who.account.id, { ...ALL, ...more });
    const first = await search({ level: ['smtp'] });
    // 5,000 of ours are 6,666 of all.
    expect(first).toMatchObject({ items: [], searchedTo: 9_334 });
    const second = await search({ level: ['smtp'], before: first.next });
    expect(second).toMatchObject({ items: [], searchedTo: 2_667 });
    const third = await search({ level: ['smtp'], before: second.next });
    expect(third).toMatchObject({ items: [{ id: 'ver_1' }], next: null, searchedTo: null });

    // A beginning that nearly all have is walked for, one that few have is not.
    expect(await search({ email: 'p', limit: 2 })).toMatchObject({ items: [{ id: 'ver_15999' }, { id: 'ver_15998' }] });
    expect(await search({ email: 'p1@' })).toMatchObject({ items: [{ id: 'ver_1' }], next: null });
    expect(await search({ email: 'p', level: ['smtp'] })).toMatchObject({ items: [], next: first.next });

    const seen: string[] = [];
    for (let before: number | null = null; ; ) {
      const page: Awaited<ReturnType<typeof search>> = await search({ email: 'p15', before, limit: 100 });
      seen.push(...page.items.map((item) => item.id));
      before = page.next;
      if (before === null) break;
    }
    const wanted = Array.from({ length: 16_000 }, (_, i) => 16_000 - i)
      .filter((i) => i % 4 !== 0 && `${i}`.startsWith('15'))
      .map((i) => `ver_${i}`);
    expect(seen).toEqual(wanted);
  });

  it('goes straight to the hours that the counters know, however far back, and ends where they know of none', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 0 });
    const began = Date.UTC(2026, 0, 1);
    const columns =
      'id, account_id, key_id, email, requested, validation_type, status, deliverability, reason, credits, duration_ms, body, created_at';
    const [rows, stepMs] = [16_000, 30_000];
    const special: Readonly<Record<number, string>> = { 20: "'smtp', 'mx', 'good', 'unknown', 'dns_failure'" };
    for (let from = 1; from <= rows; from += 4_000) {
      const values = Array.from({ length: 4_000 }, (_, i) => {
        const verdict = special[from + i] ?? "'mx', 'mx', 'good', 'unknown', NULL";
        const at = began + (from + i) * stepMs;
        return `('ver_${from + i}', '${who.account.id}', 'k', 'p@a.example', ${verdict}, 0, 1, '{}', ${at})`;
      });
      await lab.sql(`INSERT INTO verifications (${columns}) VALUES ${values.join(', ')}`);
    }
    // As charging counts them.
    await lab.sql(`INSERT INTO usage_hours (account_id, hour, key_id, validation_type, status, reason, requests, credits)
      SELECT account_id, created_at / 3600000 * 3600000, key_id, validation_type, status, coalesce(reason, ''), count(*), 0
      FROM verifications WHERE account_id = '${who.account.id}' GROUP BY 1, 2, 3, 4, 5, 6`);
    const search = (more: Partial<LogSearch>) => store.verifications.search(who.account.id, { ...ALL, ...more });
    const only = { items: [{ id: 'ver_20' }], next: null };
    expect(await search({ reason: ['dns_failure'] })).toMatchObject(only);
    expect(await search({ reason: ['dns_failure'], level: ['smtp'] })).toMatchObject(only);
    expect(await search({ reason: ['none'], not: ['reason'] })).toMatchObject(only);
    expect(await search({ outcome: ['unknown'] })).toMatchObject(only);
    expect(await search({ outcome: ['not_checked'], not: ['deliverability'] })).toMatchObject(only);
    expect(await search({ reason: ['greylisted'] })).toMatchObject({ items: [], next: null });
    expect(await search({ reason: ['dns_failure'], keyId: ['other'] })).toMatchObject({ items: [], next: null });
    // Days that were counted together are gone to as a whole.
    await lab.sql(`UPDATE usage_hours SET hour = ${began} WHERE reason = 'dns_failure'`);
    await lab.sql(`UPDATE accounts SET usage_daily_before = ${began + 86_400_000} WHERE id = '${who.account.id}'`);
    expect(await search({ reason: ['dns_failure'] })).toMatchObject(only);
    // A row that was erased is counted still.
    await lab.sql(`DELETE FROM verifications WHERE id = 'ver_20'`);
    expect(await search({ reason: ['dns_failure'] })).toMatchObject({ items: [], next: null });
  });

  it('knows the level that was asked for, whatever was charged', async () => {
    const store = await lab.open();
    const who = await member(store);
    await logged(store, who, { email: 'a@example.com', requested: 'mx', validationType: 'mx' });
    const grey = { reason: 'greylisted', deliverability: 'unknown', requested: 'smtp', validationType: 'mx' } as const;
    await logged(store, who, { email: 'b@example.com', ...grey });
    await logged(store, who, { email: 'c@example.com', requested: 'smtp', validationType: 'smtp' });
    const found = async (search: Partial<LogSearch>) =>
      (await emails(store, who.account.id, search)).map((email) => email[0]).join('');
    expect(await found({ level: ['smtp'] })).toBe('cb');
    expect(await found({ level: ['smtp'], reason: ['greylisted'] })).toBe('b');
    expect(await found({ level: ['mx'] })).toBe('a');
    expect(await found({ level: ['smtp'], not: ['level'] })).toBe('a');
    expect(await found({ level: ['mx'], not: ['level'] })).toBe('cb');
    expect(await found({ level: ['mx', 'smtp'] })).toBe('cba');
  });
});
