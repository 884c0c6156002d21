import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { hashPassword } from '../../../src/service/sign-in/passwords.ts';
import { type Browser, browser, forgetSignIns, PASSWORD, type Person, peopleOf, person } from '../../lab/person.ts';
import { type SecurityKey, securityKey } from '../../lab/second-factor.ts';
import { type Lab, startLab } from '../../lab/service.ts';

const FRESH = 'a wholly new pass phrase';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());
beforeEach(() => forgetSignIns(lab));

const isSignedIn = async (who: Browser) => (await who.call('GET', '/dashboard/session')).json.user !== null;
const linkOf = (who: { id: string }) => peopleOf(lab).passwordToken(who.id, 60_000);
const post = (path: string, body: object) => browser(lab.url).call('POST', `/dashboard/password/reset${path}`, body);
const lookUp = (token: string) => post('/lookup', { token });
const here = () => ({ origin: lab.url, rpId: 'localhost' });

async function addPasskey(who: Person, name: string): Promise<SecurityKey> {
  const { options } = (await who.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json;
  const key = securityKey();
  const body = { name, credential: key.create(options, here()) };
  expect((await who.call('POST', '/dashboard/passkeys', body)).status).toBe(201);
  return key;
}
async function byPasskey(key: SecurityKey): Promise<number> {
  const window = browser(lab.url);
  const { options } = (await window.call('POST', '/dashboard/sign-in/passkey/options')).json;
  return (await window.call('POST', '/dashboard/sign-in/passkey', { credential: key.get(options, here()) })).status;
}
async function signedInAgain(email: string): Promise<Browser> {
  const window = browser(lab.url);
  expect((await window.signIn(email)).status).toBe(200);
  return window;
}

it('a reset shows passkeys and sessions, and ends those that are not kept', async () => {
  const [jane, eve] = [await person(lab), await person(lab)];
  const [blue, red] = [await addPasskey(jane, 'Blue'), await addPasskey(jane, 'Red')];
  const second = await signedInAgain(jane.email);
  const [evesKey, evesSession] = [await addPasskey(eve, 'Eve'), (await lab.store.signIns.sessions(eve.id))[0]!.id];
  const token = await linkOf(jane);
  const found = (await lookUp(token)).json;
  expect(found.email).toBe(jane.email);
  expect(found.passkeys.map(({ name }: { name: string }) => name)).toEqual(['Blue', 'Red']);
  expect(found.sessions).toHaveLength(2);
  for (const one of found.sessions) {
    expect(one).toMatchObject({ ip: '127.0.0.1', device: 'Unknown device' });
    expect(Object.keys(one).sort()).toEqual(['device', 'id', 'ip', 'last_seen_at', 'signed_in_at']);
  }
  // Looking does not use the link up.
  expect((await lookUp(token)).json.sessions).toHaveLength(2);

  const kept = (await second.call('GET', '/dashboard/sessions')).json.sessions;
  const current = kept.find((one: { current: boolean }) => one.current).id;
  const keep = { sessions: [current, evesSession], passkeys: [found.passkeys[0].id] };
  expect((await post('', { token, password: FRESH, keep })).status).toBe(200);
  expect([await isSignedIn(jane), await isSignedIn(second), await isSignedIn(eve)]).toEqual([false, true, true]);
  expect([await byPasskey(blue), await byPasskey(red), await byPasskey(evesKey)]).toEqual([200, 401, 200]);
  expect((await lookUp(token)).json.code).toBe('link_expired');
});

it('a reset of an address that nobody has proven shows and keeps nothing', async () => {
  const password = await hashPassword(PASSWORD);
  const user = (await peopleOf(lab).create({ email: 'unproven@example.com', name: 'X', password, proven: false }))!;
  const window = await signedInAgain(user.email);
  const token = await linkOf(user);
  expect((await lookUp(token)).json).toEqual({ email: user.email, passkeys: [], sessions: [] });
  const [session] = await lab.store.signIns.sessions(user.id);
  const keep = { sessions: [session!.id], passkeys: [] };
  expect((await post('', { token, password: FRESH, keep })).status).toBe(200);
  expect(await isSignedIn(window)).toBe(false);
});

it.each(['x'.repeat(32), 'short', '../../etc'])('%j shows nothing', async (token) => {
  const reply = await lookUp(token);
  expect([400, 410]).toContain(reply.status);
  expect(reply.json.sessions).toBeUndefined();
});

it('an expired link shows nothing', async () => {
  const jane = await person(lab);
  expect((await lookUp(await peopleOf(lab).passwordToken(jane.id, -1))).json.code).toBe('link_expired');
});

it('what to keep is bounded', async () => {
  const token = await linkOf(await person(lab));
  for (const keep of [
    { sessions: Array.from({ length: 101 }, () => 'x'), passkeys: [] },
    { sessions: [], passkeys: Array.from({ length: 21 }, () => 'x') },
    { sessions: ['x'.repeat(65)], passkeys: [] },
    { sessions: [1], passkeys: [] },
    { sessions: [] },
    'everything',
  ])
    expect((await post('', { token, password: FRESH, keep })).status).toBe(400);
  expect((await lookUp(token)).status).toBe(200);
});
