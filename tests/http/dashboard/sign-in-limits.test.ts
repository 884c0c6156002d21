import { statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { UNLOCK_WITHIN_SECONDS } from '../../../src/kernel/facts/limits.ts';
import { unlock } from '../../../src/service/sign-in/limits.ts';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { type Browser, browser, PASSWORD, type Person, person } from '../../lab/person.ts';
import { totp } from '../../lab/second-factor.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { ENGINE, runSql } from '../../lab/stores.ts';

let lab: Lab;
let sink: MailSink;
let jane: Person;
/** What the clock of the service is ahead. */
let ahead = 0;
/** When its clock was stopped. */
let stopped: { now: number; elapsed: number } | null = null;
const clock = {
  now: () => (stopped?.now ?? systemClock.now()) + ahead,
  elapsed: () => (stopped?.elapsed ?? systemClock.elapsed()) + ahead,
};
beforeEach(async () => {
  sink = await startMailSink();
  // Lets tests choose their IP address.
  const options = { MAILVET_TRUSTED_PROXIES: '127.0.0.1', MAILVET_MAIL_URL: sink.url, MAILVET_SIGNUP: 'open' };
  ahead = 0;
  stopped = null;
  lab = await startLab(options, { clock });
  jane = await person(lab, { email: 'jane@good.com' });
});
afterEach(async () => {
  await lab.close();
  await sink.close();
});

let network = 0;
/** Each request from a different IP address. */
const elsewhere = () => ({ 'x-forwarded-for': `198.51.100.${++network}` });
const post = (path: string, body: unknown, headers: Record<string, string>) =>
  browser(lab.url).call('POST', `/dashboard${path}`, body, headers);
const tryPassword = (email: string, password: string, headers: Record<string, string>) =>
  post('/sign-in', { email, password }, headers);
const codes = (replies: Awaited<ReturnType<Browser['call']>>[]) => replies.map(({ status }) => status);

async function times<T>(n: number, one: (i: number) => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let i = 0; i < n; i++) all.push(await one(i));
  return all;
}

describe('sign-in is rate-limited', () => {
  it.each([['jane@good.com'], ['nobody@good.com']])('by address and network, known or not (%s)', async (email) => {
    const from = elsewhere();
    const tried = await times(10, () => tryPassword(email, 'a wrong password', from));
    expect(codes(tried)).toEqual(Array(10).fill(401));
    const reply = await tryPassword(email.toUpperCase(), PASSWORD, from);
    expect([reply.status, reply.json.code, reply.json.limit]).toEqual([429, 'rate_limit_exceeded', 10]);
    expect(reply.json.error).toBe('Too many attempts. Try again in 15 minutes.');
    expect(reply.json.retry_after).toBeGreaterThan(800);
    expect(reply.headers.get('retry-after')).toBe(String(reply.json.retry_after));
    // Nobody else is, and neither is the address elsewhere.
    const mary = await person(lab);
    expect((await tryPassword(mary.email, PASSWORD, from)).status).toBe(200);
    const there = await tryPassword(email, PASSWORD, elsewhere());
    expect(there.status).toBe(email === jane.email ? 200 : 401);
  });

  it('by address alone, with a higher bound; never on a device that signed in before', async () => {
    expect((await jane.call('POST', '/dashboard/sign-out')).status).toBe(200);
    expect([...jane.jar.keys()]).toEqual(['mailvet.device']);
    for (let round = 0; round < 10; round++) {
      const from = elsewhere();
      expect(codes(await times(10, () => tryPassword(jane.email, 'a wrong password', from)))).not.toContain(429);
    }
    const reply = await tryPassword(jane.email, PASSWORD, elsewhere());
    expect([reply.status, reply.json.limit]).toEqual([429, 100]);
    // Another user's device counts as unknown.
    const mary = await person(lab);
    expect((await mary.call('POST', '/dashboard/sign-in', { email: jane.email, password: PASSWORD })).status).toBe(429);
    // Jane's is not, even behind the address of the attacker; it has a limit of its own.
    const mine = (password: string) => jane.call('POST', '/dashboard/sign-in', { email: jane.email, password });
    expect(codes(await times(9, () => mine('a wrong password')))).toEqual(Array(9).fill(401));
    expect((await mine(PASSWORD)).status).toBe(200);
    expect(codes(await times(11, () => mine('a wrong password'))).at(-1)).toBe(429);
  });

  it('with a forged device cookie as without one', async () => {
    const from = elsewhere();
    await times(10, () => tryPassword(jane.email, 'a wrong password', from));
    const window = browser(lab.url);
    const forged = decodeURIComponent(jane.jar.get('mailvet.device') ?? '').replace(/^./, (c) =>
      c === 'x' ? 'y' : 'x',
    );
    window.jar.set('mailvet.device', encodeURIComponent(forged));
    const body = { email: jane.email, password: PASSWORD };
    expect((await window.call('POST', '/dashboard/sign-in', body, from)).status).toBe(429);
    window.jar.set('mailvet.device', jane.jar.get('mailvet.device') ?? '');
    expect((await window.call('POST', '/dashboard/sign-in', body, from)).status).toBe(200);
  });

  it('by address, reset after a success', async () => {
    const from = elsewhere();
    await times(9, () => tryPassword(jane.email, 'a wrong password', from));
    expect((await tryPassword(jane.email, PASSWORD, from)).status).toBe(200);
    expect(codes(await times(10, () => tryPassword(jane.email, 'a wrong password', from)))).not.toContain(429);
  });

  it('by address, under concurrency', async () => {
    const from = elsewhere();
    const replies = await Promise.all(Array.from({ length: 16 }, () => tryPassword(jane.email, 'wrong', from)));
    expect(codes(replies).filter((status) => status === 401)).toHaveLength(10);
    expect(codes(replies).filter((status) => status === 429)).toHaveLength(6);
  });

  it('by network, IPv6 by its /64', async () => {
    const from = (i: number) => ({ 'x-forwarded-for': `2001:db8:0:1::${i.toString(16)}` });
    const tried = await times(30, (i) => tryPassword(`nobody${i}@good.com`, 'a wrong password', from(i)));
    expect(codes(tried)).toEqual(Array(30).fill(401));
    const reply = await tryPassword(jane.email, PASSWORD, from(99));
    expect([reply.status, reply.json.code]).toEqual([429, 'rate_limit_exceeded']);
    expect((await tryPassword(jane.email, PASSWORD, { 'x-forwarded-for': '2001:db8:0:2::1' })).status).toBe(200);
  });
});

it('password confirmation of signed-in users is rate-limited', async () => {
  const tried = await times(10, () => jane.call('POST', '/dashboard/totp', { password: 'a wrong password' }));
  expect(codes(tried)).toEqual(Array(10).fill(422));
  const body = { current: PASSWORD, password: 'another good password' };
  expect((await jane.call('POST', '/dashboard/password', body)).status).toBe(429);
  expect((await tryPassword(jane.email, PASSWORD, elsewhere())).status).toBe(200);
});

it('codes of the second factor are limited by network, and by device', async () => {
  const { secret } = (await jane.call('POST', '/dashboard/totp', { password: PASSWORD })).json;
  expect((await jane.call('POST', '/dashboard/totp/confirm', { code: totp(secret) })).status).toBe(200);
  await jane.call('POST', '/dashboard/sign-out');
  /** Somebody who has the password, five codes at a time. */
  const guess = async (from: Record<string, string>, n: number) => {
    const window = browser(lab.url);
    const began = await window.call('POST', '/dashboard/sign-in', { email: jane.email, password: PASSWORD }, from);
    expect(began.status).toBe(200);
    return times(n, (i) => window.call('POST', '/dashboard/sign-in/code', { code: `wrong-code-${i}` }, from));
  };
  const networks = [elsewhere(), elsewhere(), elsewhere()];
  for (const from of networks) for (const n of [5, 5]) expect(codes(await guess(from, n))).toEqual(Array(n).fill(401));
  expect((await guess(networks[0]!, 1))[0]!.json).toMatchObject({ code: 'rate_limit_exceeded', limit: 10 });
  expect((await guess(elsewhere(), 1))[0]!.json).toMatchObject({ code: 'rate_limit_exceeded', limit: 30 });
  expect((await jane.signIn(jane.email)).json).toEqual({ second_factor: true });
  expect((await jane.call('POST', '/dashboard/sign-in/code', { code: totp(secret, 1) })).status).toBe(200);
});

describe('mails are rate-limited', () => {
  it.each([['jane@good.com'], ['nobody@good.com']])('by address, known or not (%s)', async (email) => {
    const from = elsewhere();
    const asked = await times(3, () => post('/password/forgot', { email }, from));
    expect(codes(asked)).toEqual([202, 202, 202]);
    const reply = await post('/password/forgot', { email }, from);
    expect([reply.status, reply.json.code]).toEqual([429, 'rate_limit_exceeded']);
    const signUp = await post('/sign-up', { name: 'X', email, password: PASSWORD }, from);
    expect(signUp.status).toBe(429);
    expect(codes(await times(4, () => post('/password/forgot', { email }, elsewhere())))).toEqual([202, 202, 202, 429]);
  });

  it('apart on a device that signed in before', async () => {
    await times(8, () => post('/password/forgot', { email: jane.email }, elsewhere()));
    const mine = await times(4, () => jane.call('POST', '/dashboard/password/forgot', { email: jane.email }));
    expect(codes(mine)).toEqual([202, 202, 202, 429]);
  });

  it('by network', async () => {
    const from = elsewhere();
    const asked = await times(20, (i) => post('/password/forgot', { email: `nobody${i}@good.com` }, from));
    expect(new Set(codes(asked))).toEqual(new Set([202]));
    expect((await post('/password/forgot', { email: jane.email }, from)).status).toBe(429);
    expect((await post('/password/forgot', { email: jane.email }, elsewhere())).status).toBe(202);
  });
});

it('link tokens are rate-limited by network, all kinds together', async () => {
  const from = elsewhere();
  const token = 'x'.repeat(32);
  const tries = [
    () => post('/verify-email', { token }, from),
    () => post('/password/reset', { token, password: PASSWORD }, from),
    () => post('/invitation', { token }, from),
    () => post('/setup', { token, name: 'X', email: 'x@good.com', password: PASSWORD }, from),
  ];
  expect(new Set(codes(await times(60, (i) => tries[i % 4]!())))).toEqual(new Set([410]));
  expect(codes(await times(4, (i) => tries[i]!()))).toEqual([429, 429, 429, 429]);
});

describe('rejected requests', () => {
  type Call = (from: Record<string, string>) => Promise<{ status: number }>;
  const token = 'x'.repeat(32);
  const email = 'nobody@good.com';
  const CALLS: Record<string, Call> = {
    'a sign-in': (from) => tryPassword('jane@good.com', 'a wrong password', from),
    'passkey options': (from) => post('/sign-in/passkey/options', undefined, from),
    'a passkey': (from) => post('/sign-in/passkey', { credential: { id: '' } }, from),
    'a reset mail': (from) => post('/password/forgot', { email }, from),
    'a sign-up': (from) => post('/sign-up', { name: 'X', email, password: PASSWORD }, from),
    'a link': (from) => post('/password/reset', { token, password: PASSWORD }, from),
  };

  /** All attempts that the store has counted. */
  const counted = async () =>
    Number((await runSql(lab.databaseUrl, 'SELECT coalesce(sum(count), 0) AS n FROM attempts'))[0]?.n);
  /** Bytes in the write-ahead log; null on PostgreSQL, where it belongs to all databases. */
  const walBytes = () => (ENGINE === 'sqlite' ? statSync(`${lab.databaseUrl.slice('sqlite:'.length)}-wal`).size : null);

  it.each(Object.keys(CALLS))('write nothing to the store: %s', async (name) => {
    const call = CALLS[name]!;
    // After ten seconds, which these calls may take on a busy machine, the store is asked again.
    stopped = { now: systemClock.now(), elapsed: systemClock.elapsed() };
    const from = elsewhere();
    for (let i = 0; (await call(from)).status !== 429; i++) expect(i).toBeLessThan(200);
    if (ENGINE === 'sqlite') await runSql(lab.databaseUrl, 'PRAGMA wal_checkpoint(TRUNCATE)');
    const before = [await counted(), walBytes()] as const;
    expect(new Set(codes((await times(200, () => call(from))) as never))).toEqual(new Set([429]));
    expect(await counted()).toBe(before[0]);
    // Other work of the service may write a page meanwhile; a write for each call would be 200 pages of 4 KiB.
    if (before[1] !== null) expect(walBytes()! - before[1]).toBeLessThan(256 * 1024);
  });

  it('are asked of the store again after ten seconds, so that another process can unlock a user', async () => {
    const from = elsewhere();
    await times(11, () => tryPassword(jane.email, 'a wrong password', from));
    // As `mailvet user unlock` does.
    await lab.store.signIns.change({ user: jane.id }, (change) => unlock(change, jane));
    expect((await tryPassword(jane.email, PASSWORD, from)).status).toBe(429);
    ahead += UNLOCK_WITHIN_SECONDS * 1000;
    expect((await tryPassword(jane.email, PASSWORD, from)).status).toBe(200);
  });

  it('are forgotten with a success from a known device', async () => {
    const from = elsewhere();
    await times(11, () => tryPassword(jane.email, 'a wrong password', from));
    expect((await jane.signIn(jane.email)).status).toBe(200);
    expect((await tryPassword(jane.email, PASSWORD, from)).status).toBe(200);
  });
});
