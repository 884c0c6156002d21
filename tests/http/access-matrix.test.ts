import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Access, operatorScopeOf, type Route, scopeOf } from '../../src/http/route.ts';
import { ROUTES, WORKER_ROUTES } from '../../src/http/routes.ts';
import { ERRORS } from '../../src/kernel/errors.ts';
import { ROLES, type Role } from '../../src/kernel/facts/roles.ts';
import { KEY_SCOPES, type KeyScope, OPERATOR_SCOPES, type OperatorScope } from '../../src/kernel/facts/scopes.ts';
import { createKey } from '../../src/service/keys.ts';
import { createOperatorKey } from '../../src/service/operator-keys.ts';
import { startOidc } from '../lab/oidc.ts';
import { type Lab, type Member, type Reply, startLab } from '../lab/service.ts';
import { type Client, nobody, signedIn } from './dashboard/client.ts';
import { pathOf, sampleOf } from './dashboard/sample.ts';

/** Every row as every kind of caller. Expectations derive from the row's access rule, so new rows are covered too. */
const CALLERS = [
  'nobody',
  'bad key',
  'key of the account',
  'key of another account',
  'key of test mode',
  'key with the scope alone',
  'key with every other scope',
  'operator key with the scope alone',
  'operator key with every other scope',
  'user of another account',
  'viewer',
  'member',
  'admin',
  'owner',
  'operator',
] as const;
type CallerKind = (typeof CALLERS)[number];

const KEY_ERRORS = ['missing_api_key', 'invalid_api_key'] as const;
const OUTCOMES = [
  ...KEY_ERRORS,
  'invalid_signature',
  'scope_missing',
  'api_key_required',
  'operator_key_required',
  'passes',
  'not_signed_in',
  'not_found',
  'role_not_sufficient',
] as const;
type Outcome = (typeof OUTCOMES)[number];

const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);
const isSignedIn = (caller: CallerKind): boolean =>
  isRole(caller) || caller === 'operator' || caller === 'user of another account';

function withKey(caller: CallerKind): Outcome {
  if (caller.startsWith('operator key ')) return 'api_key_required';
  if (caller === 'bad key') return 'invalid_api_key';
  if (caller === 'key with every other scope') return 'scope_missing';
  return caller.startsWith('key ') ? 'passes' : 'missing_api_key';
}

function withOperatorKey(caller: CallerKind): Outcome {
  if (caller === 'operator key with the scope alone') return 'passes';
  if (caller === 'operator key with every other scope') return 'scope_missing';
  // What looks like an API key is told apart, whether it is one or not.
  return caller === 'bad key' || caller.startsWith('key ') ? 'operator_key_required' : 'missing_api_key';
}

const withRole = (required: Role, caller: CallerKind): Outcome => {
  if (!isRole(caller)) return 'not_found';
  return ROLES.indexOf(caller) >= ROLES.indexOf(required) ? 'passes' : 'role_not_sufficient';
};

function expected(access: Access, caller: CallerKind): Outcome {
  switch (access) {
    case 'api-key:verify':
    case 'api-key:lists':
    case 'api-key:filters':
    case 'api-key:usage':
    case 'api-key:webhooks':
    case 'api-key:policies':
    case 'api-key:outcomes':
    case 'api-key:log':
    case 'charged-api-key:verify':
      return withKey(caller);
    // The other keys have no scopes of their own.
    case 'api-key:privacy':
      return withKey(caller) === 'passes' && caller !== 'key with the scope alone' ? 'scope_missing' : withKey(caller);
    case 'operator-key:accounts:read':
    case 'operator-key:accounts:write':
    case 'operator-key:credits':
    case 'operator-key:usage':
      return withOperatorKey(caller);
    case 'anybody':
    case 'page':
    case 'open':
      return 'passes';
    // Neither a key nor a session is a signature.
    case 'hook':
    case 'outcome-source':
      return 'invalid_signature';
    // An API key is not a metrics token.
    case 'metrics-token':
      return 'invalid_api_key';
    case 'signed-in':
      return isSignedIn(caller) ? 'passes' : 'not_signed_in';
    case 'operator':
      if (!isSignedIn(caller)) return 'not_signed_in';
      return caller === 'operator' ? 'passes' : 'not_found';
    case 'viewer':
    case 'member':
    case 'admin':
    case 'owner':
      return isSignedIn(caller) ? withRole(access, caller) : 'not_signed_in';
  }
}

const PUBLIC: readonly Access[] = ['anybody', 'page', 'open'];
const isOfKeys = (access: Access): boolean => scopeOf(access) !== null || operatorScopeOf(access) !== null;
const isPublic = (access: Access): boolean => PUBLIC.includes(access) || isOfKeys(access);

/** The guard's decision; any response from the handler means that it passed. */
function outcomeOf({ access }: Route, { status, json }: Reply): Outcome {
  // Handlers name what was not found; the guard replies as it does for an unknown path.
  if (status === 404) return json?.error === ERRORS.not_found.message && !isPublic(access) ? 'not_found' : 'passes';
  if (status !== 401 && status !== 403) return 'passes';
  return OUTCOMES.find((outcome) => outcome === json?.code) ?? 'passes';
}

let lab: Lab;
let member: Member;
let other: Member;
const callers = new Map<CallerKind, Client['call']>();

const bearing =
  (key: string): Client['call'] =>
  (method, path, body, headers) =>
    nobody(lab)(method, path, body, { authorization: `Bearer ${key}`, ...headers });

/** Each request comes from a separate IP address, to stay below the limit on failed attempts. */
let addresses = 0;
const fromElsewhere = () => {
  addresses += 1;
  return { 'x-forwarded-for': `198.18.${addresses >> 8}.${addresses & 255}` };
};

/** A key of the account with these scopes. */
async function scopedKey(scopes: readonly KeyScope[]): Promise<Client['call']> {
  return bearing((await createKey(lab.store, member.account.id, { name: 'scoped', allowIps: [], scopes })).value);
}

/** An operator key with these scopes. */
async function operatorKey(scopes: readonly OperatorScope[]): Promise<Client['call']> {
  const input = {
    name: 'scoped',
    allowIps: ['127.0.0.0/8', '198.18.0.0/15'],
    scopes,
    expiresAt: Date.now() + 3_600_000,
  };
  const { key, value } = await createOperatorKey(lab.store, input, BY);
  // There can only be so many.
  if (lastOperatorKey !== null) await lab.store.operatorKeys.revoke(lastOperatorKey, BY);
  lastOperatorKey = key.id;
  return bearing(value);
}
let lastOperatorKey: string | null = null;
const BY = { kind: 'command', id: null, name: 'test', ip: null } as const;

async function callerOf(kind: CallerKind, { access }: Pick<Route, 'access'>): Promise<Client['call']> {
  const needed = scopeOf(access) ?? 'verify';
  switch (kind) {
    case 'key with the scope alone':
      return scopedKey([needed]);
    case 'key with every other scope':
      return scopedKey(KEY_SCOPES.filter((scope) => scope !== needed));
    case 'operator key with the scope alone':
      return operatorKey([operatorScopeOf(access) ?? 'usage']);
    case 'operator key with every other scope':
      return operatorKey(OPERATOR_SCOPES.filter((scope) => scope !== (operatorScopeOf(access) ?? 'usage')));
    case 'nobody':
      return nobody(lab);
    case 'bad key':
      return bearing(`mv_live_${'x'.repeat(32)}`);
    case 'key of the account':
      return bearing(member.key);
    case 'key of another account':
      return bearing(other.key);
    case 'key of test mode':
      return bearing((await lab.testMember(member)).key);
    case 'operator':
      return (await signedIn(lab, { operator: true })).call;
    case 'user of another account':
      return (await signedIn(lab, { account: other.account })).call;
    case 'viewer':
    case 'member':
    case 'admin':
    case 'owner':
      return (await signedIn(lab, { account: member.account, role: kind })).call;
  }
}

const open: { close(): Promise<void> }[] = [];

/** `kinds`: of callers that are there. */
async function start(kinds: readonly CallerKind[], parts: Parameters<typeof startLab>[1] = {}): Promise<void> {
  const nowhere = 'http://127.0.0.1:9/list';
  const environment = {
    MAILVET_LISTS_DISPOSABLE_URL: nowhere,
    MAILVET_LISTS_FAKEFILTER_URL: nowhere,
    MAILVET_METRICS_TOKEN: 'metrics-token-for-the-tests',
    MAILVET_TRUSTED_PROXIES: '127.0.0.1/32',
  };
  lab = await startLab(environment, parts);
  open.push(lab);
  member = await lab.member({ credits: 1000, rateLimit: 1000 });
  other = await lab.member({ credits: 1000, rateLimit: 1000 });
  callers.clear();
  for (const kind of kinds) callers.set(kind, await callerOf(kind, { access: 'open' }));
}
beforeAll(() => start(CALLERS), 60_000);
afterAll(async () => {
  for (const one of open.reverse()) await one.close();
});

describe('the table of routes', () => {
  it('has paths consistent with the access rules', () => {
    for (const { path, access, form } of ROUTES) {
      expect([path, path.startsWith('/compat/') || path === '/mcp']).toEqual([path, form !== undefined]);
      if (form !== undefined) continue;
      expect([path, path.startsWith('/dashboard/accounts/:account')]).toEqual([path, isRole(access)]);
      expect([path, path.startsWith('/dashboard/operator/')]).toEqual([path, access === 'operator']);
      expect([path, path.startsWith('/v1/')]).toEqual([path, isOfKeys(access) || access === 'outcome-source']);
      expect([path, path.startsWith('/v1/operator/')]).toEqual([path, operatorScopeOf(access) !== null]);
    }
  });

  it('lets a viewer read, leave, dismiss notices for itself, and nothing else', () => {
    const changes = ROUTES.filter(({ access, method }) => access === 'viewer' && method !== 'GET');
    expect(changes.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /dashboard/accounts/:account/dismissals',
      'DELETE /dashboard/accounts/:account/members/:user',
    ]);
    // What reads and is kept from viewers is so for a reason of its own.
    const reads = ROUTES.filter(({ access, method }) => access === 'member' && method === 'GET');
    expect(reads).toEqual([]);
  });

  it('has no duplicate method and path', () => {
    const places = ROUTES.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  it('exposes only operator endpoints on a worker', () => {
    expect(WORKER_ROUTES.map(({ path }) => path)).toEqual([
      '/healthz',
      '/readyz',
      '/metrics',
      '/.well-known/security.txt',
      '/openapi.json',
    ]);
  });
});

/** Those of other services have errors of another form; compat.test.ts has their callers. */
const rows = ROUTES.filter(({ form }) => form === undefined).map((row) => [`${row.method} ${row.path}`, row] as const);

/** The row as each of the callers that are there. */
async function checkRow(row: Route): Promise<void> {
  const path = pathOf(row, { account: member.account.id });
  const body = row.input?.body ? sampleOf(row.input.body) : undefined;
  const found: Record<string, Outcome> = {};
  for (const kind of callers.keys()) {
    if (isOfKeys(row.access) && /^(operator )?key with/.test(kind)) callers.set(kind, await callerOf(kind, row));
    const reply = await callers.get(kind)!(row.method, path, body, fromElsewhere());
    expect(reply.status, `${kind}: ${reply.text}`).toBeLessThan(reply.json?.code === 'lists_not_updated' ? 504 : 500);
    found[kind] = outcomeOf(row, reply);
    // Some rows end the session.
    if (reply.headers.getSetCookie().length > 0) callers.set(kind, await callerOf(kind, row));
  }
  expect(found).toEqual(Object.fromEntries([...callers.keys()].map((kind) => [kind, expected(row.access, kind)])));
}

describe('access', () => {
  it.each(rows)('%s', { timeout: 180_000 }, (_name, row) => checkRow(row));

  it('of a suspended account is to read, and to take away', { timeout: 180_000 }, async () => {
    const suspended = await lab.member({ credits: 1000, rateLimit: 1000 });
    const { account } = suspended;
    const owner = await signedIn(lab, { account });
    const operator = await signedIn(lab, { operator: true });
    const testKey = bearing((await lab.testMember(suspended)).key);
    await lab.store.accounts.set(account.id, { status: 'suspended' });
    const allowed: string[] = [];
    // Other services' contracts have the key elsewhere, and the same guard.
    for (const row of ROUTES.filter(({ form, via }) => form === undefined || via === 'mcp')) {
      const name = `${row.method} ${row.path}`;
      const ofAccount = isRole(row.access);
      if (!ofAccount && scopeOf(row.access) === null && row.access !== 'operator') continue;
      const body = row.input?.body ? sampleOf(row.input.body) : undefined;
      const callers = ofAccount
        ? [owner.call]
        : row.access === 'operator'
          ? [operator.call]
          : [bearing(suspended.key), testKey];
      for (const call of callers) {
        // What would end the account comes as a mistake.
        const path = pathOf(row, { account: account.id, id: 'nothing' });
        const { status, json } = await call(row.method, path, body, fromElsewhere());
        const refused = json?.code === 'account_suspended';
        if (scopeOf(row.access) !== null) expect([name, status]).toEqual([name, 401]);
        else if (row.access === 'operator' || row.method === 'GET') expect([name, refused]).toEqual([name, false]);
        else if (!refused) allowed.push(name);
      }
    }
    expect(allowed.sort()).toEqual(
      [
        'DELETE /dashboard/accounts/:account/filters/:id',
        'DELETE /dashboard/accounts/:account/hooks/:id',
        'DELETE /dashboard/accounts/:account/invitations/:id',
        'DELETE /dashboard/accounts/:account/lists/:id',
        'DELETE /dashboard/accounts/:account/members/:user',
        'DELETE /dashboard/accounts/:account/outcome-sources/:id',
        'DELETE /dashboard/accounts/:account/views/:id',
        'DELETE /dashboard/accounts/:account/webhooks/:id',
        'POST /dashboard/accounts/:account/delete',
        'POST /dashboard/accounts/:account/keys/:id/revoke',
        'POST /dashboard/accounts/:account/lists/:id/cancel',
        'POST /dashboard/accounts/:account/log/erase',
      ].sort(),
    );
    expect((await owner.call('GET', `/dashboard/accounts/${account.id}`)).json.status).toBe('suspended');
  });

  it('of the test account is that of its live account, to its data alone', { timeout: 180_000 }, async () => {
    const { id } = await lab.store.accounts.testAccount(member.account.id);
    const stranger = await callerOf('user of another account', { access: 'member' });
    for (const row of ROUTES.filter(({ access }) => isRole(access))) {
      const body = row.input?.body ? sampleOf(row.input.body) : undefined;
      const [name, path] = [`${row.method} ${row.path}`, pathOf(row, { account: id })];
      const at = async (call: Client['call']) => {
        const { status, json } = await call(row.method, path, body, fromElsewhere());
        return json?.error === 'This is not part of test mode.'
          ? 'live only'
          : outcomeOf(row, { status, json } as Reply);
      };
      const owner = await callerOf('owner', row);
      expect([name, await at(owner)]).toEqual([name, row.liveOnly ? 'live only' : 'passes']);
      expect([name, await at(stranger)]).toEqual([name, 'not_found']);
      if (row.access !== 'viewer') {
        const least = await callerOf('viewer', row);
        expect([name, await at(least)]).toEqual([name, 'role_not_sufficient']);
      }
    }
    expect(await lab.store.accounts.get(member.account.id)).not.toBeNull();
  });

  it('with another account’s key reaches nothing of this account', async () => {
    const { json: filter } = await member.call('POST', '/v1/filters', { value: 'kept.example.com' });
    const removed = await other.call('DELETE', `/v1/filters/${filter.id}`);
    expect([removed.status, removed.json.code]).toEqual([404, 'not_found']);
    const { json: listed } = await other.call('GET', '/v1/filters?query=kept.example.com');
    expect(listed.filters).toEqual([]);
  });

  it('leaves the account unchanged without the required role', async () => {
    const log = await lab.store.auditLog.list(member.account.id, { before: null, limit: 1000 });
    const members = await lab.store.members.list(member.account.id);
    const ownKeys = new Set((await lab.store.keys.list(member.account.id)).map(({ id }) => id));
    const known = new Set(members.map(({ email }) => email));
    for (const { actor, action } of log) {
      if (actor.kind === 'command') continue;
      const allowed =
        actor.kind === 'key' ? ownKeys.has(actor.id ?? '') : actor.kind === 'user' && known.has(actor.name);
      expect([action, actor.name, allowed]).toEqual([action, actor.name, true]);
    }
  });
});

/** Sessions of the other kind, where a session decides. */
describe('access of people of an OpenID provider', () => {
  beforeAll(async () => {
    const oidc = await startOidc();
    open.push(oidc);
    await start(CALLERS.filter(isSignedIn), { oidc });
  }, 60_000);

  const decided = rows.filter(([, { access }]) => isRole(access) || access === 'signed-in' || access === 'operator');
  it.each(decided)('%s', { timeout: 180_000 }, (_name, row) => checkRow(row));
});
