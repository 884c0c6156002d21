import { expect, it } from 'vitest';
import type { DashboardKey } from '../../api/schema.ts';
import { keysSearch, sortKeys } from './search.ts';

const key = (name: string, day: number, more: Partial<DashboardKey> = {}): DashboardKey => ({
  id: `key_${name}`,
  name,
  key: 'mv_live_…0000',
  state: 'active',
  allow_ips: [],
  expires_at: null,
  scopes: [],
  budget: null,
  created_at: `2026-11-0${day}T00:00:00.000Z`,
  revoked_at: null,
  last_used_at: null,
  last_used_ip: null,
  notices: [],
  ...more,
});
const KEYS = [
  key('Web shop', 3, { last_used_at: '2026-11-10T00:00:00.000Z' }),
  key('app', 2),
  key('Zoo', 1, { last_used_at: '2026-11-12T00:00:00.000Z' }),
  key('Bygone', 4, { state: 'revoked', last_used_at: '2026-11-20T00:00:00.000Z' }),
];
const USAGE = {
  days: [],
  keys: [
    { key_id: 'key_app', requests: [4, 5], rejected: 0 },
    { key_id: 'key_Zoo', requests: [1, 0], rejected: 7 },
  ],
};

it.each([
  ['', 'Web shop app Zoo Bygone'],
  ['order=asc', 'Zoo app Web shop Bygone'],
  ['sort=name', 'app Web shop Zoo Bygone'],
  ['sort=name&order=desc', 'Zoo Web shop app Bygone'],
  ['sort=requests', 'app Zoo Web shop Bygone'],
  ['sort=rejected', 'Zoo Web shop app Bygone'],
  ['sort=used', 'Zoo Web shop app Bygone'],
  ['sort=used&order=asc', 'app Web shop Zoo Bygone'],
  ['sort=color&order=up', 'Web shop app Zoo Bygone'],
])('keys sorted by "%s": %s', (query, names) => {
  const search = keysSearch(Object.fromEntries(new URLSearchParams(query)));
  const sorted = sortKeys(KEYS, USAGE, search).map(({ name }) => name);
  expect(sorted.join(' ')).toBe(names);
});
