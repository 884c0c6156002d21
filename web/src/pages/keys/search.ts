import type { DashboardKey } from '../../api/schema.ts';
import { keysOf } from '../../parts/keys-of.ts';

export type Notice = DashboardKey['notices'][number];
const ALL: Readonly<Record<Notice, true>> = { never_used: true, idle: true, open_to_all: true, budget_spent: true };
export const NOTICES = keysOf(ALL);

/** Search parameters: show only the keys with this notice. */
interface KeysSearch {
  show?: Notice;
}

export function keysSearch({ show }: Record<string, unknown>): KeysSearch {
  const found = NOTICES.find((notice) => notice === show);
  return found ? { show: found } : {};
}
