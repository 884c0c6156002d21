import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { forgetSignIns, PASSWORD, type Person, person } from '../../lab/person.ts';
import { type SecurityKey, securityKey, totp } from '../../lab/second-factor.ts';
import { type Lab, type Reply, startLab } from '../../lab/service.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());
beforeEach(() => forgetSignIns(lab));

const here = () => ({ origin: lab.url, rpId: 'localhost' });
const ask = (who: Person, proof: object): Promise<Reply> => who.call('POST', '/dashboard/passkeys/options', proof);
async function add(who: Person, proof: object): Promise<SecurityKey> {
  const { options } = (await ask(who, proof)).json;
  const key = securityKey();
  const reply = await who.call('POST', '/dashboard/passkeys', { name: 'Key', credential: key.create(options, here()) });
  expect(reply.status).toBe(201);
  return key;
}
async function assertionOf(who: Person, key: SecurityKey): Promise<Record<string, unknown>> {
  const { options } = (await who.call('POST', '/dashboard/sign-in/passkey/options')).json;
  return key.get(options, here());
}
const passkeys = async (who: Person) => (await who.call('GET', '/dashboard/passkeys')).json.passkeys;

it('a passkey is added with the password, not with the session alone', async () => {
  const mary = await person(lab);
  expect((await ask(mary, {})).json).toMatchObject({ code: 'missing_parameter', field: 'password' });
  expect((await ask(mary, { password: 'not this one' })).json.code).toBe('wrong_password');
  await add(mary, { password: PASSWORD });
  expect(await passkeys(mary)).toMatchObject([{ name: 'Key', last_used_at: null }]);
});

it('a passkey is added with a code of the authenticator app or a recovery code, each once', async () => {
  const mary = await person(lab);
  expect((await ask(mary, { code: '123456' })).json).toMatchObject({ code: 'wrong_code', field: 'code' });
  const { secret, recovery_codes } = (await mary.call('POST', '/dashboard/totp', { password: PASSWORD })).json;
  // Not confirmed yet: nothing that a code could prove, nor does it turn the second factor on.
  expect((await ask(mary, { code: totp(secret) })).json.code).toBe('wrong_code');
  expect(await lab.store.users.get(mary.id)).toMatchObject({ secondFactor: false });
  expect((await mary.call('POST', '/dashboard/totp/confirm', { code: totp(secret) })).status).toBe(200);
  expect((await ask(mary, { code: '000000' })).json.code).toBe('wrong_code');
  const code = totp(secret, 1);
  expect((await ask(mary, { code })).status).toBe(200);
  expect((await ask(mary, { code })).json.code).toBe('wrong_code');
  await add(mary, { code: recovery_codes[0] });
  expect((await ask(mary, { code: recovery_codes[0] })).json.code).toBe('wrong_code');
  expect(await passkeys(mary)).toHaveLength(1);
});

it('a passkey is added with another one of the same user, which leaves no session behind', async () => {
  const [mary, john] = [await person(lab), await person(lab)];
  const key = await add(mary, { password: PASSWORD });
  const before = (await lab.store.signIns.sessions(mary.id)).length;
  await add(mary, { credential: await assertionOf(mary, key) });
  expect((await lab.store.signIns.sessions(mary.id)).length).toBe(before);
  expect((await passkeys(mary))[0].last_used_at).toMatch(/^2.*Z$/);

  const foreign = await ask(john, { credential: await assertionOf(john, key) });
  expect([foreign.status, foreign.json.code]).toEqual([422, 'passkey_refused']);
  expect((await lab.store.signIns.sessions(mary.id)).length).toBe(before);
  expect(await passkeys(john)).toEqual([]);
  const used = await assertionOf(mary, key);
  expect((await ask(mary, { credential: used })).status).toBe(200);
  expect((await ask(mary, { credential: used })).json.code).toBe('passkey_refused');
  expect((await ask(mary, { credential: {} })).json.code).toBe('passkey_refused');
});

it('confirmations are counted', async () => {
  const mary = await person(lab);
  for (let n = 0; n < 10; n += 1) expect((await ask(mary, { credential: { id: 'AA' } })).status).toBe(422);
  expect((await ask(mary, { password: PASSWORD })).status).toBe(429);
});
