import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { type Browser, browser, PASSWORD, peopleOf, person } from '../../lab/person.ts';
import { type Lab, type Reply, startLab } from '../../lab/service.ts';

// Several services and sign-ins, each with deliberately slow password hashing.
vi.setConfig({ testTimeout: 60_000 });

let lab: Lab;
let sink: MailSink;
beforeEach(async () => {
  sink = await startMailSink();
  lab = await startLab({ MAILVET_MAIL_URL: sink.url, MAILVET_SIGNUP: 'open' });
});
afterEach(async () => {
  await lab.close();
  await sink.close();
});

const EMAIL = 'quentin.tarn@good.com';
const NAME = 'Quentin Tarn';
const post = (path: string, body: unknown, window: Browser = browser(lab.url)) =>
  window.call('POST', `/dashboard${path}`, body);

interface Place {
  /** Sets the password of this person. */
  readonly set: (password: string) => Promise<Reply>;
  readonly account?: string;
}
/** Every place of the dashboard where a password is set, each with the name of an account of the person. */
const PLACES: Record<string, () => Promise<Place>> = {
  async 'sign-up'() {
    return { set: (password) => post('/sign-up', { name: NAME, email: EMAIL, password }) };
  },
  async 'the first start'() {
    const token = (await lab.service.setupLink())?.split('#token=')[1];
    return { set: (password) => post('/setup', { token, name: NAME, email: EMAIL, password }), account: 'Default' };
  },
  async 'an invitation'() {
    const { account } = await lab.member();
    const owner = await person(lab, { account: account.id });
    await owner.call('PATCH', `/dashboard/accounts/${account.id}`, { name: 'Zebra Shop' });
    await owner.call('POST', `/dashboard/accounts/${account.id}/invitations`, { email: EMAIL, role: 'member' });
    const { token } = await sink.next(EMAIL);
    return {
      set: (password) => post('/invitation/accept', { token, name: NAME, password }),
      account: 'Zebra Shop',
    };
  },
  async 'a reset'() {
    const { account } = await lab.member();
    const { id } = await person(lab, { email: EMAIL, name: NAME, account: account.id });
    await lab.store.accounts.set(account.id, { name: 'Zebra Shop' });
    const token = await peopleOf(lab).passwordToken(id, 60_000);
    return { set: (password) => post('/password/reset', { token, password }), account: 'Zebra Shop' };
  },
  async 'a change'() {
    const { account } = await lab.member();
    const quentin = await person(lab, { email: EMAIL, name: NAME, account: account.id });
    await lab.store.accounts.set(account.id, { name: 'Zebra Shop' });
    return {
      set: (password) => post('/password', { current: PASSWORD, password }, quentin),
      account: 'Zebra Shop',
    };
  },
};

describe.each(Object.keys(PLACES))('%s rejects', (place) => {
  it('frequent passwords, and the names of the user, the account and the service', async () => {
    const { set, account } = await PLACES[place]!();
    const refusal = async (password: string) => {
      const { status, json } = await set(password);
      return [password, status, json?.code, json?.field, json?.error];
    };
    const weak = (password: string, why: RegExp) => [
      password,
      400,
      'invalid_parameter',
      'password',
      expect.stringMatching(why),
    ];
    const frequent = /most common passwords.*several unrelated words/;
    for (const one of ['password1234!', '1qaz2wsx3edc', '2026-Dragon-2026'])
      expect(await refusal(one)).toEqual(weak(one, frequent));
    const names = ['Quentin-1234567', 'quentintarn!!', '+quentin.tarn+', EMAIL, 'Mailvet-2026!', 'tarn mailvet 1'];
    if (account !== undefined) names.push(`${account} 1234`);
    for (const one of names) expect(await refusal(one)).toEqual(weak(one, /your name.*several unrelated words/));
    expect((await set('a quiet zebra of my own')).status).toBeLessThan(300);
  });
});
