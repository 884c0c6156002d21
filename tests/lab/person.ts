/** Users with a cookie jar each, sending the headers of a page's own requests. */

import { systemClock } from '../../src/kernel/clock.ts';
import type { Role } from '../../src/kernel/facts/roles.ts';
import { createLogger } from '../../src/kernel/log.ts';
import { createNotifyUser } from '../../src/service/sign-in/notices.ts';
import { lazyLibrary } from '../../src/service/sign-in/open.ts';
import { argon2id, hashPassword } from '../../src/service/sign-in/passwords.ts';
import { createUserAdmin, type UserAdmin } from '../../src/service/sign-in/user-admin.ts';
import type { AccountId, Store } from '../../src/store/store.ts';
import { type OidcLab, verified } from './oidc.ts';
import { type Reply, request } from './service.ts';

export const PASSWORD = 'correct horse battery staple';

/** A browser, signed in or not. */
export interface Browser {
  /** Cookies by name. */
  readonly jar: Map<string, string>;
  /** A request of the page: `body` is sent as JSON, cookies are sent and stored. A header set to '' is omitted. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Signs in by password and returns the reply. */
  signIn(email: string, password?: string): Promise<Reply>;
}

export interface Person extends Browser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

interface PersonOptions {
  readonly email?: string;
  readonly name?: string;
  readonly password?: string;
  /** Membership; default role: owner. Without an account: no membership. */
  readonly account?: AccountId;
  readonly role?: Role;
  readonly operator?: boolean;
  /** With the hash that the service makes, for tests of what it costs. */
  readonly fullHash?: boolean;
}

interface Place {
  readonly url: string;
  readonly store: Store;
  /** With whom people sign in; absent or null: with passwords. */
  readonly oidc?: OidcLab | null;
}

const byStore = new WeakMap<Store, UserAdmin>();

/** The user administration of `mailvet user`. */
export function peopleOf({ url, store }: Place): UserAdmin {
  let people = byStore.get(store);
  if (people === undefined) {
    const logger = createLogger('silent');
    const library = lazyLibrary({ store, secret: null, url: () => url, clock: systemClock, logger });
    const notify = createNotifyUser({ mail: false, clock: systemClock, url: () => url });
    people = createUserAdmin({ store, library, clock: systemClock, notify });
    byStore.set(store, people);
  }
  return people;
}

let made = 0;

/** The hash says what it costs, so the service verifies these without the 20 ms of its own. */
const cheapHash = (password: string) => argon2id(password, { memory: 8, passes: 1, parallelism: 1 });

/**
 * A new user, created as by `mailvet user create` and signed in through the service: with a password, or with the
 * provider of the laboratory and without one.
 */
export async function person(lab: Place, options: PersonOptions = {}): Promise<Person> {
  made += 1;
  const { email = `person${made}@example.com`, password = PASSWORD, role = 'owner', account } = options;
  const name = options.name ?? `Person ${made}`;
  const { oidc = null } = lab;
  const hashed = oidc === null ? await (options.fullHash ? hashPassword : cheapHash)(password) : null;
  const user = await peopleOf(lab).create({ email, name, password: hashed });
  if (user === null) throw new Error(`${email} is known already`);
  const by = { kind: 'command', id: null, name: 'test', ip: null } as const;
  if (account !== undefined) await lab.store.members.add(account, user.id, role, by);
  if (options.operator) await lab.store.users.setOperator(user.id, true);
  const window = browser(lab.url);
  const reply =
    oidc === null
      ? await window.signIn(email, password)
      : await signInByOidc(window, oidc, verified(user.id, email, { name }));
  if (reply.status !== 200) throw new Error(`${email} could not sign in: ${reply.text}`);
  await (oidc === null ? forgetSignIns(lab) : lab.store.attempts.clear('oidc-ip:127.0.0.1'));
  return { ...window, id: user.id, email: user.email, password };
}

/** All users of a laboratory share one address, whose sign-in limit the tests would exceed. */
export const forgetSignIns = ({ store }: Pick<Place, 'store'>): Promise<void> =>
  store.attempts.clear('sign-in-ip:127.0.0.1');

/** A browser without a session. */
export function browser(url: string): Browser {
  const jar = new Map<string, string>();
  const call: Browser['call'] = async (method, path, body, headers = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const usual: Record<string, string> = { 'sec-fetch-site': 'same-origin', ...(cookie === '' ? {} : { cookie }) };
    if (method !== 'GET') usual.origin = url;
    const sent = Object.fromEntries(Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== ''));
    const reply = await request(url, method, path, body, sent);
    for (const line of reply.headers.getSetCookie()) keep(jar, line);
    return reply;
  };
  return { jar, call, signIn: (email, password = PASSWORD) => call('POST', '/dashboard/sign-in', { email, password }) };
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
  const name = pair.slice(0, pair.indexOf('='));
  const value = pair.slice(pair.indexOf('=') + 1);
  if (value === '' || attributes.some((attribute) => /^max-age=0$/i.test(attribute))) jar.delete(name);
  else jar.set(name, value);
}

/** Signs in with the provider as a browser does, and returns the reply of the last step. */
export async function signInByOidc(
  window: Browser,
  oidc: OidcLab,
  claims: OidcLab['person'],
  invitation?: string,
): Promise<Reply> {
  const begun = await window.call('POST', '/dashboard/sign-in/oidc', invitation === undefined ? {} : { invitation });
  if (begun.status !== 200) return begun;
  oidc.person = claims;
  const query = oidc.authorize(begun.json.url);
  return window.call('POST', '/dashboard/sign-in/oidc/finish', { query });
}
