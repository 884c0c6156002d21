import type { DashboardKey } from '../../api/schema.ts';

export type Notice = DashboardKey['notices'][number];
export const NOTICES = ['never_used', 'idle', 'open_to_all'] as const satisfies readonly Notice[];

/** As the address of the page has it: only the keys that one card points to. */
export interface KeysSearch {
  show?: Notice;
}

export function keysSearch({ show }: Record<string, unknown>): KeysSearch {
  const found = NOTICES.find((notice) => notice === show);
  return found ? { show: found } : {};
}
