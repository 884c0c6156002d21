import { expect, it } from 'vitest';
import type { JobKind } from '../../src/kernel/jobs.ts';
import { createLogger } from '../../src/kernel/log.ts';
import { createMailLimits } from '../../src/service/mail-limits.ts';
import type { Account, Store } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { member, verifyNow } from './cast.ts';
import { addressesOf, startedList } from './list-cast.ts';
import { create, newKey } from './webhook-cast.ts';

/** What an account has that the work would be done on; `found`: how much of it there is to do. */
interface Work {
  readonly found: (store: Store, account: Account) => Promise<number>;
}

const due = async (store: Store, account: Account): Promise<number> => {
  const [webhook] = await store.webhooks.list(account.id);
  return (await store.webhooks.due(webhook!.id, 10)).due.length;
};

/** Null: of no account, or it takes away what is to go. */
const WORK: Readonly<Record<JobKind | 'list_work', Work | null>> = {
  list_work: { found: async (store) => (await store.lists.running()).length },
  low_balance: { found: async (store) => (await store.accounts.claimLowBalanceAlerts()).length },
  mail: {
    async found(store, account) {
      const limits = createMailLimits({ store, logger: createLogger('silent') });
      return Number(await limits.accountMaySend('webhook_disabled', account.id));
    },
  },
  alert_mail: {
    async found(store, account) {
      const limits = createMailLimits({ store, logger: createLogger('silent') });
      return Number(await limits.accountMaySend('alert', account.id));
    },
  },
  webhook_delivery: { found: due },
  webhook_retry: {
    async found(store) {
      const count = async () => (await store.jobs.list({ failed: false, limit: 100 })).items.length;
      await store.webhooks.wake();
      return count();
    },
  },
  password_reset: null,
  sign_up: null,
  purge: null,
  account_removal: null,
  lists_update: null,
  lists_refresh: null,
  learn_hosts: null,
  list_removal: null,
};

describeStores('the background work of a suspended account', (lab) => {
  const kinds = Object.entries(WORK).flatMap(([kind, work]) => (work === null ? [] : [[kind, work] as const]));

  it.each(kinds)('%s waits', async (kind, { found }) => {
    const store = await lab.open();
    const who = await member(store, { credits: 100 });
    await create(store, who.account);
    await newKey(store, who.account);
    await startedList(store, who, addressesOf(2));
    await store.accounts.set(who.account.id, { lowBalance: 1000 });
    await verifyNow(store, who);
    // What was added with these; the retries look for it.
    await lab.sql('DELETE FROM jobs');
    await store.accounts.set(who.account.id, { status: 'suspended' });
    expect([kind, await found(store, who.account)]).toEqual([kind, 0]);
    await store.accounts.set(who.account.id, { status: 'active' });
    expect(await found(store, who.account)).toBeGreaterThan(0);
  });
});
