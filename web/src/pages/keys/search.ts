import { KEY_NOTICES, type KeyNotice } from '../../../../src/kernel/facts/notices.ts';
import type { DashboardKey, KeyUsage } from '../../api/schema.ts';
import { compareTexts } from '../../parts/format.ts';
import { flagSearch } from '../../parts/search-params.ts';
import { type Orders, type SortSearch, sortedBy, sortSearch } from '../../parts/sorting.tsx';
import { type SourceSearch, sourceSearch } from '../../parts/source.ts';

/** What the table is sorted by. */
export const KEY_ORDERS = {
  created: 'desc',
  name: 'asc',
  requests: 'desc',
  rejected: 'desc',
  used: 'desc',
} as const satisfies Orders<string>;
type KeySort = keyof typeof KEY_ORDERS;

/** Search parameters: show only the keys with this notice; open the dialog that creates one. */
export interface KeysSearch extends SortSearch<KeySort>, SourceSearch {
  show?: KeyNotice;
  create?: true;
}

export function keysSearch(search: Record<string, unknown>): KeysSearch {
  const { show, create } = search;
  const found = KEY_NOTICES.find((notice) => notice === show);
  const shown = { ...(found ? { show: found } : {}), ...flagSearch('create', create) };
  return { ...shown, ...sourceSearch(search), ...sortSearch(KEY_ORDERS, search) };
}

type UsedKey = KeyUsage['keys'][number];
export const requestsOf = (used: UsedKey | undefined): number => (used?.requests ?? []).reduce((sum, n) => sum + n, 0);

const VALUES: Readonly<Record<KeySort, (key: DashboardKey, used: UsedKey | undefined) => string | number>> = {
  created: ({ created_at }) => Date.parse(created_at),
  name: ({ name }) => name,
  requests: (_key, used) => requestsOf(used),
  rejected: (_key, used) => used?.rejected ?? 0,
  used: ({ last_used_at }) => (last_used_at === null ? 0 : Date.parse(last_used_at)),
};
const compare = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : compareTexts(String(a), String(b));

/** Revoked keys stay last, whatever the rest is sorted by. */
export function sortKeys(keys: readonly DashboardKey[], usage: KeyUsage | undefined, search: KeysSearch) {
  const { by, order } = sortedBy(KEY_ORDERS, search);
  const used = new Map(usage?.keys.map((one) => [one.key_id, one]));
  const value = (key: DashboardKey) => VALUES[by](key, used.get(key.id));
  const isRevoked = ({ state }: DashboardKey): number => (state === 'revoked' ? 1 : 0);
  const sign = order === 'asc' ? 1 : -1;
  return keys.toSorted((a, b) => isRevoked(a) - isRevoked(b) || sign * compare(value(a), value(b)));
}
