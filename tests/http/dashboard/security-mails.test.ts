import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { forgetSignIns, PASSWORD, type Person, peopleOf, person } from '../../lab/person.ts';
import { runCli } from '../../lab/process.ts';
import { securityKey, totp } from '../../lab/second-factor.ts';
import { type Lab, startLab } from '../../lab/service.ts';

const FRESH = 'a wholly new pass phrase';
const LINUX = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' };

let lab: Lab;
let sink: MailSink;
beforeAll(async () => {
  sink = await startMailSink();
  lab = await startLab({ MAILVET_MAIL_URL: sink.url, MAILVET_MAIL_FROM: 'post@mailvet.example' });
});
afterAll(async () => {
  await lab.close();
  await sink.close();
});
beforeEach(() => forgetSignIns(lab));

const post = async (who: Person, path: string, body: object, status = 200) => {
  const reply = await who.call('POST', `/dashboard${path}`, body, LINUX);
  expect(reply.status).toBe(status);
  return reply.json;
};
/** Subject and text of the next mail. */
async function nextMailTo(email: string): Promise<string> {
  const { headers, text } = await sink.next(email);
  return `${headers.get('subject')}\n${text}`;
}
const jobs = async (place: Lab) => (await place.store.jobs.list({ failed: false, limit: 100 })).items;

it('a changed password is mailed with time, place and device, and what to do', async () => {
  const jane = await person(lab, { email: 'jane@example.com' });
  const minute = new Date().toISOString().slice(0, 13).replace('T', ' ');
  await post(jane, '/password', { current: PASSWORD, password: FRESH });
  const mail = await nextMailTo(jane.email);
  expect(mail).toContain('Your Mailvet password was changed\n');
  expect(mail).toContain('User: jane@example.com.');
  expect(mail).toMatch(/^Time: \d{4}-\d\d-\d\d \d\d:\d\d UTC$/m);
  expect(mail.includes(`Time: ${minute}`) || new Date().getMinutes() === 0).toBe(true);
  expect(mail).toContain('IP address: 127.0.0.1\nDevice: Firefox on Linux\n');
  expect(mail).toContain(`${lab.url}/sign-in#forgot`);
  // A wrong password changes nothing.
  await post(jane, '/password', { current: PASSWORD, password: 'and yet another one' }, 422);
  await post(jane, '/password', { current: FRESH, password: PASSWORD });
  await nextMailTo(jane.email);
  expect(sink.mails.filter(({ to }) => to.includes(jane.email))).toHaveLength(2);
});

it('second factor and passkeys: on and off, added and removed', async () => {
  const mary = await person(lab);
  const { secret } = await post(mary, '/totp', { password: PASSWORD });
  await post(mary, '/totp/confirm', { code: '000000' }, 422);
  await post(mary, '/totp/confirm', { code: totp(secret) });
  expect(await nextMailTo(mary.email)).toMatch(/^Two-factor authentication was turned on\n[\s\S]*new recovery codes/);
  await post(mary, '/totp/remove', { password: 'not this one' }, 422);
  await post(mary, '/totp/remove', { password: PASSWORD });
  expect(await nextMailTo(mary.email)).toMatch(/^Two-factor authentication was turned off\n/);
  // The session lives on, rotated.
  const { options } = await post(mary, '/passkeys/options', { password: PASSWORD });
  const credential = securityKey().create(options, { origin: lab.url, rpId: 'localhost' });
  await post(mary, '/passkeys', { name: 'Visit https://evil.example', credential }, 201);
  const added = await nextMailTo(mary.email);
  expect(added).toMatch(/^A passkey was added to your Mailvet user\n/);
  // Text that somebody chose is not mailed.
  expect(added).not.toContain('evil');
  const { id } = (await mary.call('GET', '/dashboard/passkeys')).json.passkeys[0];
  expect((await mary.call('DELETE', `/dashboard/passkeys/${id}`)).status).toBe(200);
  expect(await nextMailTo(mary.email)).toMatch(/^A passkey was removed from your Mailvet user\n/);
  expect((await mary.call('DELETE', `/dashboard/passkeys/${id}`)).status).toBe(404);
  expect(sink.mails.filter(({ to }) => to.includes(mary.email))).toHaveLength(4);
});

it('a password by link, and changes on the command line', async () => {
  const mary = await person(lab);
  const { options } = await post(mary, '/passkeys/options', { password: PASSWORD });
  const credential = securityKey().create(options, { origin: lab.url, rpId: 'localhost' });
  await post(mary, '/passkeys', { name: 'Key', credential }, 201);
  await nextMailTo(mary.email);
  const token = await peopleOf(lab).passwordToken(mary.id, 60_000);
  await post(mary, '/password/reset', { token, password: FRESH });
  const reset = await nextMailTo(mary.email);
  expect(reset).toMatch(/^Your Mailvet password was changed\n[\s\S]*Passkeys removed: 1\./);

  const environment = {
    MAILVET_DATABASE_URL: lab.databaseUrl,
    MAILVET_PUBLIC_URL: lab.url,
    MAILVET_MAIL_URL: sink.url,
  };
  const args = ['user', 'reset-password', mary.email, '--password-stdin', '--forget-second-factor'];
  const ran = await runCli(args, environment, `${PASSWORD}\n`);
  expect(ran).toMatchObject({ code: 0 });
  const mail = await nextMailTo(mary.email);
  expect(mail).toContain('Changed by: the operator of the service, on the command line');
  expect(mail).toContain('ask the operator of the service');
  expect(mail).not.toContain('IP address');
  expect(sink.mails.filter(({ to }) => to.includes(mary.email))).toHaveLength(3);
});

it('nothing is queued where no mail can be sent', async () => {
  const silent = await startLab();
  try {
    const jane = await person(silent);
    await post(jane, '/password', { current: PASSWORD, password: FRESH });
    const sent = (await jobs(silent)).filter(({ kind }) => kind === 'mail');
    expect(sent).toEqual([]);
  } finally {
    await silent.close();
  }
});
