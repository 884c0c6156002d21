import { expect, it } from 'vitest';
import { describeStores } from '../lab/stores.ts';
import { hold, member, newVerificationId, verdict, verifyNow } from './cast.ts';

describeStores('verifications', (lab) => {
  it('are recorded with their charge and read back as they were', async () => {
    const store = await lab.open();
    const who = await member(store);
    const id = newVerificationId();
    const body = JSON.stringify({ email: 'a\0b\uD800', quote: '"{},\\' });
    const record = verdict(id, {
      status: 'bad',
      reason: 'null_mx',
      email: '"{a,b}\\"@é.example',
      body,
      clientIp: null,
      via: 'mcp',
      decision: 'reject',
    });
    await verifyNow(store, who, record, { id });
    expect(await store.verifications.get(who.account.id, id)).toEqual({
      ...record,
      createdAt: lab.clock.now(),
      keyId: who.key.id,
      list: null,
    });
  });

  it('are recorded at settlement too', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id, caller } = await hold(store, who, { level: 'smtp' });
    expect(await store.verifications.get(who.account.id, id)).toBeNull();
    const record = verdict(id, { requested: 'smtp', validationType: 'mx', credits: 1 });
    await store.charging.settle({ caller, holdId: id, record, idempotency: null });
    expect(await store.verifications.get(who.account.id, id)).toMatchObject(record);
  });

  it('keep what an engine cannot as U+FFFD', async () => {
    const store = await lab.open();
    const who = await member(store);
    const id = newVerificationId();
    await verifyNow(store, who, { email: 'a\0b\uD800c\r\n😀' }, { id });
    expect(await store.verifications.get(who.account.id, id)).toMatchObject({ email: 'a\uFFFDb\uFFFDc\r\n😀' });
  });

  it('are listed newest first, page by page, to nobody but their account', async () => {
    const store = await lab.open();
    const owner = await member(store);
    const stranger = await member(store);
    const ids = [];
    for (let i = 0; i < 5; i++) {
      const id = newVerificationId();
      ids.unshift(id);
      await verifyNow(store, owner, {}, { id });
    }
    const page = await store.verifications.list(owner.account.id, { offset: 1, limit: 3 });
    expect(page.items.map((item) => item.id)).toEqual(ids.slice(1, 4));
    expect(page.total).toBe(5);
    expect(await store.verifications.list(stranger.account.id, { offset: 0, limit: 10 })).toEqual({
      items: [],
      total: 0,
    });
    expect(await store.verifications.get(stranger.account.id, ids[0]!)).toBeNull();
  });
});
