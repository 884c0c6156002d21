import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { type Browser, browser, PASSWORD, type Person, person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';

let lab: Lab;
let sink: MailSink;
let jane: Person;
beforeEach(async () => {
  sink = await startMailSink();
  // So that a test can come from anywhere.
  lab = await startLab({ MAILVET_TRUSTED_PROXIES: '127.0.0.1', MAILVET_MAIL_URL: sink.url, MAILVET_SIGNUP: 'open' });
  jane = await person(lab, { email: 'jane@good.com' });
});
afterEach(async () => {
  await lab.close();
  await sink.close();
});

let network = 0;
/** From another address each. */
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

describe('sign-in is limited', () => {
  it.each([['jane@good.com'], ['nobody@good.com']])('by address, known or not (%s)', async (email) => {
    const tried = await times(10, () => tryPassword(email, 'a wrong password', elsewhere()));
    expect(codes(tried)).toEqual(Array(10).fill(401));
    const reply = await tryPassword(email.toUpperCase(), PASSWORD, elsewhere());
    expect([reply.status, reply.json.code, reply.json.limit]).toEqual([429, 'rate_limit_exceeded', 10]);
    expect(reply.json.error).toBe('Too many attempts: go on in 15 minutes.');
    expect(reply.json.retry_after).toBeGreaterThan(800);
    expect(reply.headers.get('retry-after')).toBe(String(reply.json.retry_after));
    // Nobody else is.
    const mary = await person(lab);
    expect((await tryPassword(mary.email, PASSWORD, elsewhere())).status).toBe(200);
  });

  it('by address anew after a correct one', async () => {
    await times(9, () => tryPassword(jane.email, 'a wrong password', elsewhere()));
    expect((await tryPassword(jane.email, PASSWORD, elsewhere())).status).toBe(200);
    expect(codes(await times(10, () => tryPassword(jane.email, 'a wrong password', elsewhere())))).not.toContain(429);
  });

  it('by address, whatever comes at the same time', async () => {
    const replies = await Promise.all(Array.from({ length: 16 }, () => tryPassword(jane.email, 'wrong', elsewhere())));
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

it('the password asked again of somebody who is signed in is limited', async () => {
  const tried = await times(10, () => jane.call('POST', '/dashboard/totp', { password: 'a wrong password' }));
  expect(codes(tried)).toEqual(Array(10).fill(422));
  const body = { current: PASSWORD, password: 'another good password' };
  expect((await jane.call('POST', '/dashboard/password', body)).status).toBe(429);
  expect((await tryPassword(jane.email, PASSWORD, elsewhere())).status).toBe(200);
});

describe('mails are limited', () => {
  it.each([['jane@good.com'], ['nobody@good.com']])('by address, known or not (%s)', async (email) => {
    const asked = await times(3, () => post('/password/forgot', { email }, elsewhere()));
    expect(codes(asked)).toEqual([202, 202, 202]);
    const reply = await post('/password/forgot', { email }, elsewhere());
    expect([reply.status, reply.json.code]).toEqual([429, 'rate_limit_exceeded']);
    const signUp = await post('/sign-up', { name: 'X', email, password: PASSWORD }, elsewhere());
    expect(signUp.status).toBe(429);
  });

  it('by network', async () => {
    const from = elsewhere();
    const asked = await times(20, (i) => post('/password/forgot', { email: `nobody${i}@good.com` }, from));
    expect(new Set(codes(asked))).toEqual(new Set([202]));
    expect((await post('/password/forgot', { email: jane.email }, from)).status).toBe(429);
    expect((await post('/password/forgot', { email: jane.email }, elsewhere())).status).toBe(202);
  });
});

it('tokens of links are limited by network, all kinds together', async () => {
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
