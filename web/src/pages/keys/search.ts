import type { DashboardKey } from '../../api/schema.ts';
import { keysOf } from '../../parts/keys-of.ts';
import { flagSearch } from '../../parts/search-params.ts';

export type Notice = DashboardKey['notices'][number];
const ALL: Readonly<Record<Notice, true>> = { never_used: true, idle: true, open_to_all: true, budget_spent: true };
export const NOTICES = keysOf(ALL);

/** Search parameters: show only the keys with this notice; open the dialog that creates one. */
interface KeysSearch {
  show?: Notice;
  create?: true;
}

export function keysSearch({ show, create }: Record<string, unknown>): KeysSearch {
  const found = NOTICES.find((notice) => notice === show);
  return { ...(found ? { show: found } : {}), ...flagSearch('create', create) };
}
