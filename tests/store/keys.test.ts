import { expect, it } from 'vitest';
import { describeStores } from '../lab/stores.ts';
import { IP, member, verifyNow } from './cast.ts';

describeStores('keys', (lab) => {
  it('are kept as a hash and listed with what tells them apart', async () => {
    const store = await lab.open();
    const { account, key, hash } = await member(store, { allowIps: ['192.0.2.0/24', '2001:db8::1'] });
    expect(key).toEqual({
      id: expect.stringMatching(/^key_/),
      accountId: account.id,
      name: 'test',
      lastFour: 'abcd',
      allowIps: ['192.0.2.0/24', '2001:db8::1'],
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
