import { expect, it } from 'vitest';
import { hashPassword, verifyPassword } from './passwords.ts';

/** Of earlier versions, which used the package @node-rs/argon2; the second has other costs. */
const STORED = [
  '$argon2id$v=19$m=19456,t=2,p=1$J+dhRISMiLs0LB5AbWQa7A$L2gP98wL1o0QCfF19Xraj0Rr70C6u2T25vMMLf73vR0',
  '$argon2id$v=19$m=4096,t=3,p=2$enSboerfGR00X4ZHPUgHrg$LNs9tHJSnu1RoR46Tfl5kg4YIyHOzUkB',
];

it.each(STORED)('verifies the stored hash %s', async (hash) => {
  expect(await verifyPassword({ hash, password: 'x' })).toBe(true);
  expect(await verifyPassword({ hash, password: 'X' })).toBe(false);
});

it('hashes with a salt of its own, in the PHC string format', async () => {
  const [one, other] = [await hashPassword('pässword'), await hashPassword('pässword')];
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(other).not.toBe(one);
  expect(await verifyPassword({ hash: one, password: 'pässword' })).toBe(true);
});

it.each([
  '',
  '$2b$10$abc',
  STORED[0]!.replace('argon2id', 'argon2i'),
])('rejects %j, which is no hash of ours', async (hash) => {
  await expect(verifyPassword({ hash, password: 'x' })).rejects.toThrow('not Argon2id');
});
