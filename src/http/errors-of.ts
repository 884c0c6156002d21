import { type Access, type Route, scopeOf } from './route.ts';

const BY_ACCOUNT = [401, 403, 404, 429, 500, 503];
const BY_KEY = [401, 403, 429, 500, 503];

/** Statuses that every row of an access rule can return, beside its own and those of its input. */
const BY_ACCESS: Readonly<Record<Access, readonly number[]>> = {
  'api-key:verify': BY_KEY,
  'api-key:lists': BY_KEY,
  'api-key:filters': BY_KEY,
  'api-key:usage': BY_KEY,
  'api-key:webhooks': BY_KEY,
  'charged-api-key:verify': BY_KEY,
  anybody: [500, 503],
  'signed-in': [401, 429, 500, 503],
  member: BY_ACCOUNT,
  admin: BY_ACCOUNT,
  owner: BY_ACCOUNT,
  operator: [401, 404, 500, 503],
  page: [404, 500],
  open: [500],
  'metrics-token': [401, 404, 500],
};

/** The statuses of errors that a row can return. */
export function errorsOf({ access, method, input = {}, doc }: Route): number[] {
  const found = new Set([...(doc?.errors ?? []), ...BY_ACCESS[access]]);
  if (input.body || input.query || input.headers) found.add(400);
  if (input.body) found.add(413).add(415);
  if (input.params) found.add(404);
  // Another site's request.
  if (scopeOf(access) === null && method !== 'GET') found.add(403);
  return [...found].sort((a, b) => a - b);
}
