import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { DASHBOARD_ROUTES } from '../../../src/http/dashboard/table.ts';
import type { Route } from '../../../src/http/route.ts';
import { type OidcLab, startOidc } from '../../lab/oidc.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { type Client, signedIn } from './client.ts';
import { bodyFor, queryFor } from './sample.ts';

/** For any input the response matches the OpenAPI document, is never a 500, and another account is unchanged. */
let lab: Lab;
let mine: Member;
let theirs: Member;
let owner: Client;
let operator: Client;
let foreign: string[];
let oidc: OidcLab;
beforeAll(async () => {
  oidc = await startOidc();
});
afterAll(() => oidc.close());
afterEach(() => lab.close());

async function start(parts: Parameters<typeof startLab>[1]): Promise<void> {
  const nowhere = 'http://127.0.0.1:9/list';
  lab = await startLab({ MAILVET_LISTS_DISPOSABLE_URL: nowhere, MAILVET_LISTS_FAKEFILTER_URL: nowhere }, parts);
  mine = await lab.member({ credits: 100_000, rateLimit: 100_000 });
  theirs = await lab.member({ credits: 50 });
  owner = await signedIn(lab, { account: mine.account });
  operator = await signedIn(lab, { operator: true });
  const other = await signedIn(lab, { account: theirs.account });
  const { json: filter } = await theirs.call('POST', '/v1/filters', { value: 'theirs.example.com' });
  const { json: verified } = await theirs.verify('a@good.com');
  const { json: invited } = await other.call('POST', `/dashboard/accounts/${theirs.account.id}/invitations`, {
    email: 'new@good.com',
    role: 'member',
  });
  foreign = [theirs.keyId, String(filter.id), verified.id, invited.id, other.person.id];
}

/** All data of the other account. */
const everything = async () => {
  const { id } = theirs.account;
  const { store } = lab;
  return JSON.stringify([
    await store.accounts.get(id),
    await store.keys.list(id),
    await store.filters.from(id, 0, 100),
    // Whoever asks is active.
    (await store.members.list(id)).map((one) => ({ ...one, lastActiveAt: null })),
    await store.members.invitations(id),
    await store.accounts.ledger(id, 100),
    await store.auditLog.list(id, { before: null, limit: 100 }),
    await store.verifications.list(id, { offset: 0, limit: 100 }),
  ]);
};

/** Excluded: rows that end the session, and one that takes ten seconds. */
const LEFT_OUT = ['signOut', 'signOutEverywhere', 'operatorDoctor', 'operatorUpdateLists'];
const rows = DASHBOARD_ROUTES.filter(({ doc }) => !LEFT_OUT.includes(doc!.operationId));

const odd = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  fc.constantFrom('0', '1', '-1', '99999999999999999999', '%00', "'; --", '..', '\u0000', 'dashboard', 'null'),
);
/** Operators may change any account, so operator rows do not get the other account's id. */
const idFor = (row: Route, name: string): fc.Arbitrary<string> => {
  if (name === 'account')
    return fc.oneof({ weight: 8, arbitrary: fc.constant(mine.account.id) }, odd, fc.constant(theirs.account.id));
  if (row.access === 'operator') return fc.oneof(fc.constant(mine.account.id), odd);
  return fc.oneof(odd, fc.constantFrom(...foreign, mine.keyId));
};

const requestFor = (row: Route) => {
  const names = [...row.path.matchAll(/:([a-z]+)/g)].map(([, name]) => name!);
  return fc.record({
    row: fc.constant(row),
    params: fc.record(Object.fromEntries(names.map((name) => [name, idFor(row, name)]))),
    body: row.input?.body ? bodyFor(row.input?.body) : fc.constant(undefined),
    query: row.input?.query ? queryFor(row.input?.query) : fc.constant(''),
  });
};

it.each([
  { people: 'passwords', runs: 1200 },
  { people: 'an OpenID provider', runs: 300 },
])('$runs requests with arbitrary content, of users with $people', { timeout: 240_000 }, async ({ people, runs }) => {
  await start(people === 'passwords' ? {} : { oidc });
  const before = await everything();
  const anyRequest = fc.constantFrom(...rows).chain(requestFor);
  await fc.assert(
    fc.asyncProperty(anyRequest, async ({ row, params, body, query }) => {
      const path = row.path.replaceAll(/:([a-z]+)/g, (_, name: string) =>
        encodeURIComponent((params as Record<string, string>)[name]!.toWellFormed()),
      );
      const who = row.access === 'operator' ? operator : owner;
      const reply = await who.call(row.method, path + query, body);
      expect(reply.status, `${row.method} ${path}${query} ${JSON.stringify(body)} → ${reply.text}`).toBeLessThan(500);
      if (params.account === theirs.account.id) expect(reply.status).toBe(404);
    }),
    { numRuns: runs },
  );
  expect(await everything()).toBe(before);
  expect(await lab.store.accounts.audit()).toEqual([]);
});
