/** Lists for the store's tests. */

import { expect } from 'vitest';
import { LIST_CLAIMS_MAX } from '../../src/kernel/facts/limits.ts';
import type { Level } from '../../src/kernel/facts/plans.ts';
import { listResultId, newId } from '../../src/kernel/ids.ts';
import { newBlock } from '../../src/store/lists/blocks.ts';
import type { ListOutcome, ListRow, ListWork, NewListBlock, Store, VerificationRecord } from '../../src/store/store.ts';
import type { StoreLab } from '../lab/stores.ts';
import { type Member, verdict } from './cast.ts';

/** Blocks of these addresses, one in each row; an empty text is a blank row. */
function blocksOf(emails: readonly string[], size = 500): NewListBlock[] {
  const numbers = new Map<string, number>();
  const blocks: NewListBlock[] = [];
  for (let from = 0; from < emails.length; from += size) {
    const firstAddress = numbers.size + 1;
    const addresses: string[] = [];
    const rows = emails.slice(from, from + size).map((email, i): ListRow => {
      if (email !== '' && !numbers.has(email)) {
        numbers.set(email, numbers.size + 1);
        addresses.push(email);
      }
      const address = numbers.get(email) ?? null;
      const numbered = address === null ? [] : [{ number: address, column: 1, text: null }];
      return {
        row: from + i + 1,
        addresses: numbered,
        cells: [`name ${from + i + 1}`, email],
        extra: [],
        problem: null,
      };
    });
    blocks.push(newBlock(rows, firstAddress, addresses, { addressColumn: 1 }));
  }
  return blocks;
}

export const addressesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `a${i + 1}@example.com`);

/** Whose list it is. */
type Owner = { readonly account: Pick<Member['account'], 'id'>; readonly key: Pick<Member['key'], 'id'> };

interface Wanted {
  readonly level?: Level;
  readonly retryMinutes?: number;
  readonly block?: number;
}

/** Uploads a list without starting it; its id. */
export async function uploadList(
  store: Store,
  { account, key }: Owner,
  emails: readonly string[],
  { level = 'mx', retryMinutes = 60, block = 500 }: Wanted = {},
): Promise<string> {
  const id = newId('lst', Date.now());
  const layout = { columns: ['name', 'email'], addressColumn: 1, hasHeader: true };
  const list = {
    id,
    account: account.id,
    keyId: key.id,
    clientIp: null,
    name: 'June.csv',
    level,
    retryMinutes,
    layout,
  };
  await store.lists.create(list);
  const blocks = blocksOf(emails, block);
  if (blocks.length > 0) await store.lists.append(account.id, id, blocks);
  const filled = emails.filter((email) => email !== '');
  const distinct = new Set(filled).size;
  await store.lists.finish(account.id, id, {
    total: emails.length,
    addresses: distinct,
    duplicates: filled.length - distinct,
    blank: emails.length - filled.length,
    unreadable: 0,
  });
  return id;
}

export async function startedList(
  store: Store,
  who: Owner,
  emails: readonly string[],
  wanted: Wanted = {},
): Promise<string> {
  const id = await uploadList(store, who, emails, wanted);
  const { outcome } = await store.lists.start(who.account.id, id);
  if (outcome !== 'done') throw new Error(`The list was not started: ${outcome}.`);
  return id;
}

export const LEASE_MS = 30_000;

export const claimWith = (store: Store, { account }: Member, list: string, lease: string, chunks = 1) =>
  store.lists.claim({ account: account.id, list, lease, leaseMs: LEASE_MS, chunks });

export const waitingWith = (store: Store, { account }: Member, list: string, lease: string, limit = 100) =>
  store.lists.claimWaiting({ account: account.id, list, lease, leaseMs: LEASE_MS, limit });

/** Workers claim addresses and die, until the list fails. */
export async function claimUntilFailed(lab: StoreLab, store: Store, who: Member, list: string): Promise<void> {
  for (let n = 0; n < LIST_CLAIMS_MAX; n++) {
    expect(await claimWith(store, who, list, `w${n}`)).not.toEqual([]);
    lab.clock.advance(LEASE_MS);
  }
  expect(await claimWith(store, who, list, 'last')).toEqual([]);
}

/** The result of an address; with `retryMs`, a temporary one. */
export const found = (
  work: ListWork,
  more: Partial<VerificationRecord> = {},
  retryMs: number | null = null,
): ListOutcome => ({
  work,
  record: verdict(listResultId(work.list, work.address), { email: work.email, ...more }),
  retryMs,
});
