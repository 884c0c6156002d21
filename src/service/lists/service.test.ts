import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { Costs } from '../costs.ts';
import { createPolicyService } from '../policies.ts';
import { createListService } from './service.ts';
import { spooled } from './spooled.ts';

let store: Store | undefined;
afterEach(() => store?.close());

it('tells the worker of this process when a list begins to run', async () => {
  store = await openStore({ url: 'sqlite::memory:', clock: systemClock });
  await store.migrate();
  const limits = { plan: 'enterprise', rateLimit: 100, credits: 1_000 } as const;
  const { id: account } = await store.accounts.create({ name: 'Acme', ...limits });
  const service = createListService({
    store,
    clock: systemClock,
    costs: new Costs(systemClock),
    policies: createPolicyService(store),
    singleCalls: () => 0,
  });
  let calls = 0;
  service.onRunning(() => {
    calls += 1;
  });
  const by = { kind: 'user', id: 'usr_1', name: 'Ada', ip: '192.0.2.1' } as const;
  async function* input() {
    yield Buffer.from('jane@example.com\n');
  }
  const upload = async (start: boolean) => {
    const uploader = { account, plan: 'enterprise', keyId: 'key_1', ip: '192.0.2.1' } as const;
    const read = async () => ({
      start,
      fileName: null,
      sentAs: { form: null, charset: null },
      ...(await spooled(input(), 100)),
    });
    return (await service.upload(uploader, by, read)).list;
  };
  const { id } = await upload(false);
  expect(calls).toBe(0);
  await service.change(account, id, 'start', by);
  expect(calls).toBe(1);
  await service.change(account, id, 'pause', by);
  expect(calls).toBe(1);
  await service.change(account, id, 'resume', by);
  expect(calls).toBe(2);
  expect((await upload(true)).status).toBe('running');
  expect(calls).toBe(3);
});
