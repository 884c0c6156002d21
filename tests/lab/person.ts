/** People at their browsers: a cookie jar each, and the headers that a page's own requests have. */
import { systemClock } from '../../src/kernel/clock.ts';
import { createLogger } from '../../src/kernel/log.ts';
import { lazyLibrary } from '../../src/service/sign-in/open.ts';
import { hashPassword } from '../../src/service/sign-in/passwords.ts';
import { createPeople, type People } from '../../src/service/sign-in/people.ts';
import type { AccountId, Role, Store } from '../../src/store/store.ts';
import { type Reply, request } from './service.ts';

export const PASSWORD = 'correct horse battery staple';

/** A browser that may be signed in. */
export interface Browser {
  /** Cookies by name. */
  readonly jar: Map<string, string>;
  /** A request of the page: `body` is sent as JSON, cookies are sent and kept. A header set to '' is left out. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Signs in by password; answers the reply. */
  signIn(email: string, password?: string): Promise<Reply>;
}

export interface Person extends Browser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

export interface PersonOptions {
  readonly email?: string;
  readonly name?: string;
  readonly password?: string;
  /** Of which account, and as what; an owner unless said otherwise. Without an account: of none. */
  readonly account?: AccountId;
  readonly role?: Role;
  readonly operator?: boolean;
}

interface Place {
  readonly url: string;
  readonly store: Store;
}

const byStore = new WeakMap<Store, People>();

/** As `mailvet user` makes and changes people. */
export function peopleOf({ url, store }: Place): People {
  let people = byStore.get(store);
  if (people === undefined) {
    const logger = createLogger('silent');
    const library = lazyLibrary({ store, secret: null, url: () => url, clock: systemClock, logger });
    people = createPeople({ store, library, clock: systemClock });
    byStore.set(store, people);
  }
  return people;
}

let made = 0;

/** A new person, made past the service as `mailvet user create` does, and signed in through it. */
export async function person(lab: Place, options: PersonOptions = {}): Promise<Person> {
  made += 1;
  const { email = `person${made}@example.com`, password = PASSWORD, role = 'owner', account } = options;
  const name = options.name ?? `Person ${made}`;
  const user = await peopleOf(lab).create({ email, name, password: await hashPassword(password) });
  if (user === null) throw new Error(`${email} is known already`);
  const by = { kind: 'command', id: null, name: 'test', ip: null } as const;
  if (account !== undefined) await lab.store.members.add(account, user.id, role, by);
  if (options.operator) await lab.store.users.setOperator(user.id, true);
  const window = browser(lab.url);
  const reply = await window.signIn(email, password);
  if (reply.status !== 200) throw new Error(`${email} could not sign in: ${reply.text}`);
  await forgetSignIns(lab);
  return { ...window, id: user.id, email: user.email, password };
}

/** Everybody in a laboratory comes from one address, which may not sign in as often as the tests do. */
export const forgetSignIns = ({ store }: Pick<Place, 'store'>): Promise<void> =>
  store.attempts.clear('sign-in-ip:127.0.0.1');

/** A browser in which nobody is signed in yet. */
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
