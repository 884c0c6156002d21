/** People who sign in to a laboratory's service: made as the command line makes them. */
import type { BrowserContext } from 'playwright-core';
import { systemClock } from '../../src/kernel/clock.ts';
import { createLogger } from '../../src/kernel/log.ts';
import { lazyLibrary } from '../../src/service/sign-in/open.ts';
import { hashPassword } from '../../src/service/sign-in/passwords.ts';
import { createPeople } from '../../src/service/sign-in/people.ts';
import type { Account, Role } from '../../src/store/store.ts';
import { type Lab, request } from './service.ts';

export const PASSWORD = 'correct horse battery staple';
/** One hash for all of them: it takes a while by design. */
let hashed: Promise<string> | null = null;

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  /** The Cookie header of a session of theirs, without a visit of the sign-in page. */
  cookie(): Promise<string>;
  /** The same in a browser. */
  signIn(context: BrowserContext): Promise<void>;
}

let made = 0;

export async function personOf(
  { url, store }: Pick<Lab, 'url' | 'store'>,
  input: { name?: string; email?: string; account?: Account; role?: Role; operator?: boolean } = {},
): Promise<Person> {
  made += 1;
  const {
    name = `Person ${made}`,
    email = `person-${made}@good.com`,
    account,
    role = 'owner',
    operator = false,
  } = input;
  const logger = createLogger('silent');
  const library = lazyLibrary({ store, secret: null, url: () => url, clock: systemClock, logger });
  hashed ??= hashPassword(PASSWORD);
  const user = await createPeople({ store, library, clock: systemClock }).create({
    email,
    name,
    password: await hashed,
  });
  if (user === null) throw new Error(`There is a user ${email} already.`);
  const by = { kind: 'command', id: null, name: 'mailvet user create', ip: null } as const;
  if (account) await store.members.add(account.id, user.id, role, by);
  if (operator) await store.users.setOperator(user.id, true);

  async function session(): Promise<string[]> {
    const reply = await request(url, 'POST', '/dashboard/sign-in', { email, password: PASSWORD });
    if (reply.status !== 200) throw new Error(`Signing in was answered with ${reply.status}: ${reply.text}`);
    return reply.headers.getSetCookie().map((line) => line.split(';')[0]!);
  }
  return {
    id: user.id,
    name,
    email,
    password: PASSWORD,
    cookie: async () => (await session()).join('; '),
    async signIn(context) {
      const cookies = (await session()).map((pair) => {
        const [name = '', value = ''] = pair.split(/=(.*)/);
        return { name, value, url, httpOnly: true, sameSite: 'Strict' as const };
      });
      await context.addCookies(cookies);
    },
  };
}
