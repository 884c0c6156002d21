/** States of an account in which dialogs can be opened that it does not have by use. */
import type { Kysely } from 'kysely';
import { createKey } from '../../src/service/keys.ts';
import type { MonthOfUse } from '../lab/month-of-use.ts';
import { browser, type Person, person } from '../lab/person.ts';
import { totp } from '../lab/second-factor.ts';
import { type Lab, request } from '../lab/service.ts';
import type { Persona } from '../lab/smtp.ts';

const BY = { kind: 'command', id: null, name: 'test', ip: null } as const;
const OUTSIDE = '203.0.113.99';
const LATER = 'later';

/** A mail server that answers of one mailbox only that it should be asked later. */
export const greylisting = (persona: Persona): Persona => ({
  ...persona,
  on: ({ verb, path }) => (verb === 'RCPT' && path.startsWith(LATER) ? '451 4.7.1 Try again later' : undefined),
});

/** What paths name: lists that are running, unknown, canceled and without a mailbox check, and a suspended account. */
export async function preparePlaces(lab: Lab, { account, owner, key }: MonthOfUse): Promise<Record<string, string>> {
  const { store, url } = lab;
  const headers = { authorization: `Bearer ${key}` };
  const list = async (emails: readonly string[], more: object): Promise<string> =>
    (await request(url, 'POST', '/v1/lists', { emails, ...more }, headers)).json.id;
  const smtp = { validation_type: 'smtp' };
  const running = await list([`${LATER}@fabrikam.test`], { name: 'running.csv', ...smtp });
  const unknown = await list([`${LATER}@contoso.test`], { name: 'unknown.csv', ...smtp, retry_minutes: 0 });
  const cancelled = await list(['ada.lind@fabrikam.test', 'orders@contoso.test'], { name: 'spring.csv', start: false });
  await request(url, 'POST', `/v1/lists/${cancelled}/cancel`, undefined, headers);
  const unchecked = await list(['ada.lind@fabrikam.test'], { name: 'unchecked.csv', validation_type: 'mx' });

  const limited = await createKey(store, account.id, { name: 'Office', allowIps: ['192.0.2.1'] }, BY);
  const from = { authorization: `Bearer ${limited.value}`, 'x-forwarded-for': OUTSIDE };
  await request(url, 'POST', '/v1/verify', { email: 'ada.lind@fabrikam.test' }, from);

  const other = await store.accounts.create({ name: 'Contoso', plan: 'free', rateLimit: null, credits: 100 });
  await store.accounts.set(other.id, { status: 'suspended' }, BY);
  await store.jobs.add({ kind: 'password_reset', payload: { email: 'jane@example.com' }, account: account.id });
  // This service sends no mail, so that nobody else claims it.
  for (const claim of await store.jobs.claim(new Map([['password_reset', 1]])))
    await store.jobs.fail(claim, 'The mail server did not take the mail: ECONNREFUSED.', true);
  await browser(url).signIn(owner.email);
  return { running, unknown, cancelled, unchecked, suspended: other.id };
}

/** Somebody with an account, who signed in with a code and has a passkey. */
export async function withSecondFactor(lab: Lab): Promise<Person> {
  const account = await lab.store.accounts.create({ name: 'Northwind', plan: 'free', rateLimit: null, credits: 100 });
  const who = await person(lab, { account: account.id });
  const { secret } = (await who.call('POST', '/dashboard/totp', { password: who.password })).json;
  await who.call('POST', '/dashboard/totp/confirm', { code: totp(secret) });
  // It cannot be added in the browser: by the clock of this service, nobody has signed in of late.
  const { engine, authDatabase } = lab.store;
  const db = authDatabase.db as Kysely<Record<string, Record<string, unknown>>>;
  const now = new Date();
  const times = { createdAt: engine === 'sqlite' ? now.toISOString() : now };
  const kind = { deviceType: 'singleDevice', backedUp: engine === 'sqlite' ? 0 : false, counter: 0 };
  const passkey = { id: 'laptop', userId: who.id, name: 'This laptop', credentialID: 'laptop', publicKey: 'none' };
  await db
    .insertInto('auth_passkeys')
    .values({ ...passkey, ...kind, ...times })
    .execute();
  return who;
}
