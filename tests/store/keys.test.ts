import { expect, it } from 'vitest';
import { KEYS_MAX } from '../../src/kernel/facts/limits.ts';
import { DEFAULT_SCOPES } from '../../src/kernel/facts/scopes.ts';
import type { AccountId } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { IP, member, verifyNow } from './cast.ts';
import { BY } from './people.ts';

describeStores('keys', (lab) => {
  it('are kept as a hash and listed with what tells them apart', async () => {
    const store = await lab.open();
    const { account, key, hash } = await member(store, { allowIps: ['192.0.2.0/24', '2001:db8::1'] });
    expect(key).toEqual({
      id: expect.stringMatching(/^key_/),
      accountId: account.id,
      testOf: null,
      name: 'test',
      lastFour: 'abcd',
      allowIps: ['192.0.2.0/24', '2001:db8::1'],
      scopes: DEFAULT_SCOPES,
      budget: null,
      expiresAt: null,
      createdAt: lab.clock.now(),
      revokedAt: null,
      lastUsedAt: null,
      lastUsedIp: null,
    });
    expect(await store.keys.get(key.id)).toEqual(key);
    expect(await store.keys.list(account.id)).toEqual([key]);
    expect(JSON.stringify(key)).not.toContain(hash);
  });

  it('belong to their account: a stranger neither sees nor changes them', async () => {
    const store = await lab.open();
    const owner = await member(store);
    const stranger = await member(store);
    expect(await store.keys.list(stranger.account.id)).toEqual([stranger.key]);
    expect(await store.keys.update(stranger.account.id, owner.key.id, { name: 'mine' })).toBeNull();
    expect(await store.keys.update(stranger.account.id, owner.key.id, {})).toBeNull();
    expect(await store.keys.get(owner.key.id)).toMatchObject({ name: 'test' });
    expect(await store.keys.list(null)).toHaveLength(2);
    expect(await store.keys.get('key_none')).toBeNull();
  });

  it('need an account', async () => {
    const store = await lab.open();
    const input = { name: 'x', hash: 'h', lastFour: 'abcd', allowIps: [] };
    await expect(store.keys.create('acc_none' as never, input)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('of an account are bounded, and so is what is listed of revoked ones', async () => {
    const store = await lab.open();
    const { account, key } = await member(store);
    let made = 0;
    const add = () => {
      made += 1;
      return store.keys.create(account.id, { name: 'x', hash: `hash ${made}`, lastFour: 'abcd', allowIps: [] });
    };
    for (let n = 1; n < KEYS_MAX; n++) await add();
    await expect(add()).rejects.toMatchObject({ code: 'too_many_keys' });
    const roll = (graceMs: number) =>
      store.keys.roll(account.id, key.id, { hash: `rolled ${graceMs}`, lastFour: 'abcd', graceMs }, BY);
    await expect(roll(1)).rejects.toMatchObject({ code: 'too_many_keys' });
    expect(await roll(0)).not.toBeNull();
    for (const { id } of await store.keys.list(account.id)) await store.keys.revoke(id);
    lab.clock.advance(1);
    const last = await add();
    await store.keys.revoke(last.id);
    const left = await add();
    const listed = (await store.keys.list(account.id)).map(({ id }) => id);
    expect(listed).toHaveLength(KEYS_MAX + 1);
    expect(listed).toEqual(expect.arrayContaining([last.id, left.id]));
    expect(await store.keys.list(account.id, { withTest: true })).toHaveLength(KEYS_MAX + 3);
  });

  it('are refused from the moment they are revoked, by another process too', async () => {
    const store = await lab.open();
    const other = await lab.open();
    const who = await member(store);
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    const first = lab.clock.now();
    expect(await other.keys.revoke(who.key.id)).toMatchObject({ revokedAt: first });
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'refused', code: 'revoked_api_key', caller: null });
    lab.clock.advance(1000);
    expect(await store.keys.revoke(who.key.id)).toMatchObject({ revokedAt: first });
    expect(await store.keys.list(who.account.id)).toMatchObject([{ revokedAt: first }]);
    expect(await store.keys.revoke('key_none')).toBeNull();
  });

  it('that nobody made are refused, and do not count', async () => {
    const store = await lab.open();
    expect(await verifyNow(store, { hash: 'nobody' })).toEqual({
      outcome: 'refused',
      code: 'invalid_api_key',
      caller: null,
      window: null,
      balance: null,
    });
  });

  it('that are rolled have a successor at once and end when their grace is over', async () => {
    const store = await lab.open();
    const who = await member(store, { allowIps: ['192.0.2.0/24'] });
    const now = lab.clock.now();
    const fresh = { hash: 'fresh', lastFour: 'wxyz', graceMs: 60_000 };
    const rolled = await store.keys.roll(who.account.id, who.key.id, fresh, BY);
    expect(rolled).toEqual({
      fresh: { ...who.key, id: expect.stringMatching(/^key_/), lastFour: 'wxyz', createdAt: now },
      old: { ...who.key, revokedAt: now + 60_000 },
    });
    expect(rolled!.fresh.id).not.toBe(who.key.id);
    expect(await store.keys.list(who.account.id)).toHaveLength(2);
    const successor = { hash: 'fresh' };
    expect(await verifyNow(store, successor)).toMatchObject({ caller: { keyId: rolled!.fresh.id } });
    lab.clock.advance(59_999);
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled', caller: { keyId: who.key.id } });
    lab.clock.advance(1);
    expect(await verifyNow(store, who)).toMatchObject({ code: 'revoked_api_key' });
    expect(await verifyNow(store, successor)).toMatchObject({ outcome: 'settled' });
    const [row, ...more] = await store.auditLog.list(who.account.id, { before: null, limit: 10 });
    const detail = { key: who.key.id, fresh: rolled!.fresh.id, grace_seconds: 60 };
    expect(row).toMatchObject({ actor: BY, action: 'key.rolled', target: 'test', detail });
    expect(more).toEqual([]);
  });

  it('without a grace end at once; and one that is revoked, ends already or is another’s is not rolled', async () => {
    const store = await lab.open();
    const who = await member(store);
    const stranger = await member(store);
    const roll = (account: AccountId, id: string, hash: string, graceMs: number) =>
      store.keys.roll(account, id, { hash, lastFour: 'wxyz', graceMs }, BY);
    expect(await roll(stranger.account.id, who.key.id, 'a', 0)).toBeNull();
    expect(await roll(who.account.id, 'key_none\0', 'a', 0)).toBeNull();
    const rolled = await roll(who.account.id, who.key.id, 'b', 0);
    expect(rolled).toMatchObject({ old: { revokedAt: lab.clock.now() } });
    expect(await verifyNow(store, who)).toMatchObject({ code: 'revoked_api_key' });
    expect(await roll(who.account.id, who.key.id, 'c', 0)).toBeNull();
    await roll(stranger.account.id, stranger.key.id, 'd', 60_000);
    expect(await roll(stranger.account.id, stranger.key.id, 'e', 60_000)).toBeNull();
    expect(await store.keys.list(null)).toHaveLength(4);
    // All or nothing: the value of another key is none to roll to.
    await expect(roll(who.account.id, rolled!.fresh.id, 'd', 0)).rejects.toThrow(/unique/i);
    expect(await verifyNow(store, { hash: 'b' })).toMatchObject({ outcome: 'settled' });
  });

  it('that are rolled by many at once are rolled once', async () => {
    const stores = [await lab.open(), await lab.open()];
    const who = await member(stores[0]!);
    const rolls = Array.from({ length: 8 }, (_, i) =>
      stores[i % 2]!.keys.roll(who.account.id, who.key.id, { hash: `h${i}`, lastFour: 'wxyz', graceMs: 1_000 }, BY),
    );
    expect((await Promise.all(rolls)).filter((rolled) => rolled !== null)).toHaveLength(1);
    expect(await stores[0]!.keys.list(who.account.id)).toHaveLength(2);
  });

  it('in their grace can be revoked at once', async () => {
    const store = await lab.open();
    const who = await member(store);
    await store.keys.roll(who.account.id, who.key.id, { hash: 'f', lastFour: 'wxyz', graceMs: 60_000 }, BY);
    lab.clock.advance(1_000);
    const now = lab.clock.now();
    expect(await store.keys.revoke(who.key.id, BY)).toMatchObject({ revokedAt: now });
    expect(await verifyNow(store, who)).toMatchObject({ code: 'revoked_api_key' });
    lab.clock.advance(1_000);
    expect(await store.keys.revoke(who.key.id, BY)).toMatchObject({ revokedAt: now });
    const rows = await store.auditLog.list(who.account.id, { before: null, limit: 10 });
    expect(rows.map((row) => row.action)).toEqual(['key.revoked', 'key.rolled']);
  });

  it('are made, changed and revoked by somebody, and the audit log says what changed', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const input = { name: 'site', hash: 'hash', lastFour: 'wxyz', allowIps: ['192.0.2.7'] };
    const key = await store.keys.create(account.id, input, BY);
    await store.keys.update(account.id, key.id, { name: 'site', allowIps: ['192.0.2.7'] }, BY);
    await store.keys.update(account.id, key.id, { name: 'shop' }, BY);
    await store.keys.update(account.id, key.id, { allowIps: [] }, BY);
    await store.keys.revoke(key.id, BY);
    const rows = await store.auditLog.list(account.id, { before: null, limit: 10 });
    expect(rows.map(({ action, target, detail }) => [action, target, detail]).reverse()).toEqual([
      ['key.created', 'site', { key: key.id, last_four: 'wxyz', allow_ips: ['192.0.2.7'] }],
      ['key.changed', 'site', { key: key.id, name: { from: 'site', to: 'shop' } }],
      ['key.changed', 'shop', { key: key.id, allow_ips: { from: ['192.0.2.7'], to: [] } }],
      ['key.revoked', 'shop', { key: key.id }],
    ]);
    expect(JSON.stringify(rows)).not.toContain('hash');
  });

  it.each([
    [[], IP, true],
    [['192.0.2.7'], '192.0.2.7', true],
    [['192.0.2.7'], '192.0.2.8', false],
    [['192.0.2.0/24'], '192.0.2.255', true],
    [['192.0.2.0/24'], '192.0.3.0', false],
    [['0.0.0.0/0'], '203.0.113.9', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['2001:db8::/32'], '2001:db8:ffff::1', true],
    [['2001:db8::/32'], '2001:db9::1', false],
    [['2001:db8::1', '198.51.100.0/25'], '198.51.100.127', true],
    [['2001:db8::1', '198.51.100.0/25'], '198.51.100.128', false],
    [['::/0'], '192.0.2.7', false],
  ])('with the allowlist %j, called from %s: %s', async (allowIps, ip, allowed) => {
    const store = await lab.open();
    const who = await member(store, { allowIps });
    const admission = await verifyNow(store, who, {}, { ip });
    if (allowed) return expect(admission).toMatchObject({ outcome: 'settled' });
    expect(admission).toMatchObject({ outcome: 'refused', code: 'ip_not_allowed', caller: { keyId: who.key.id } });
    expect(await store.accounts.window(who.account.id)).toMatchObject({ remaining: 1_000_000 });
    expect(await store.keys.get(who.key.id)).toMatchObject({ lastUsedAt: null });
  });

  it('follow their edited allowlist at once', async () => {
    const store = await lab.open();
    const other = await lab.open();
    const who = await member(store);
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    await other.keys.update(who.account.id, who.key.id, { allowIps: ['198.51.100.1'], name: 'office' });
    expect(await verifyNow(store, who)).toMatchObject({ code: 'ip_not_allowed' });
    await other.keys.update(who.account.id, who.key.id, { allowIps: [IP] });
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    expect(await store.keys.get(who.key.id)).toMatchObject({ name: 'office', allowIps: [IP] });
  });

  it('note their last use once a minute', async () => {
    const store = await lab.open();
    const who = await member(store);
    const first = lab.clock.now();
    await verifyNow(store, who);
    expect(await store.keys.get(who.key.id)).toMatchObject({ lastUsedAt: first, lastUsedIp: IP });
    lab.clock.advance(59_999);
    await verifyNow(store, who, {}, { ip: '198.51.100.2' });
    expect(await store.keys.get(who.key.id)).toMatchObject({ lastUsedAt: first, lastUsedIp: IP });
    lab.clock.advance(1);
    await verifyNow(store, who, {}, { ip: '198.51.100.2' });
    expect(await store.keys.get(who.key.id)).toMatchObject({ lastUsedAt: first + 60_000, lastUsedIp: '198.51.100.2' });
  });
});
