import { describe, expect, it } from 'vitest';
import { parsePersonName } from '../names.ts';
import { isUsableEmail, parseEmail, rejectWeakPassword } from './validate.ts';

describe('an address to sign in with', () => {
  it.each([
    ['Jane@Example.COM', 'jane@example.com'],
    [' jane@example.com\n', 'jane@example.com'],
    ["o'brien+tag_1@mail.example.co.uk", "o'brien+tag_1@mail.example.co.uk"],
    ['a@b-c.example', 'a@b-c.example'],
  ])('%j becomes %s', (text, email) => expect(parseEmail(text)).toBe(email));

  it.each([
    '',
    'jane',
    'jane@',
    '@example.com',
    'jane@localhost',
    'jane@example',
    '.jane@example.com',
    'jane.@example.com',
    'ja..ne@example.com',
    'ja ne@example.com',
    'jane@exa mple.com',
    'jane@example.com, eve@example.com',
    'jane@example.com\r\nBcc: eve@example.com',
    '"jane"@example.com',
    'jörg@example.com',
    'jane@bücher.example',
    'jane@-example.com',
    'jane@[127.0.0.1]',
    'jane@example.com\u0000',
    `${'x'.repeat(65)}@example.com`,
    `jane@${'a.'.repeat(130)}com`,
  ])('%j is rejected', (text) => {
    expect(() => parseEmail(text)).toThrow(
      expect.objectContaining({ code: 'invalid_parameter', details: { field: 'email' } }),
    );
  });

  it('is checked in linear time', () => {
    const began = performance.now();
    for (const text of [`${'a.'.repeat(100)}@`, `a@${'a-'.repeat(120)}`, '-'.repeat(250), `a@${'a.'.repeat(120)}1`])
      expect(isUsableEmail(text)).toBe(false);
    expect(performance.now() - began).toBeLessThan(50);
  });
});

describe('a password', () => {
  const JANE = { email: 'jane.doe@example.com', name: 'Jane Doe', accounts: ['Corner Shop 24'] };
  it.each([
    'twelve chars',
    'Mailvet is not all',
    'correct horse',
    'password of a horse',
    'jane likes dragons',
    'tr0ub4dor&3-zq',
    '7391-2284-9917',
    'Ö'.repeat(6) + 'jstrand',
    'ünïcödé würd',
    'x1'.repeat(128).replace('x1', 'abcd').slice(0, 256),
  ])('%j is accepted', async (password) => expect(await rejectWeakPassword(password, JANE)).toBeUndefined());

  it.each([
    'elevenchars',
    'x'.repeat(12),
    'abababababab',
    'mailvetmailvet',
    'Mailvet 2026!',
    'MAILVET-MAILVET',
    'Jane.Doe@Example.com',
    'jane1234567890',
    'janedoejanedoe',
    'Doe, Jane: 1987',
    'shopcorner2424',
    'cornershop24cornershop24',
    'mailvet jane 1',
    'example 2026!!',
    'password1234',
    '!!!PASSWORD!!!',
    'password-password',
    'passwordpass1',
    'P@ssw0rd1234',
    '123456789012',
    '1q2w3e4r5t6y',
    'jane password',
    `long ${'x'.repeat(256)}`,
  ])('%j is rejected', async (password) => {
    const apiError = expect.objectContaining({ code: 'invalid_parameter', details: { field: 'password' } });
    await expect(rejectWeakPassword(password, JANE)).rejects.toThrow(apiError);
  });

  it('is checked in a bounded time, whatever the names', async () => {
    const accounts = Array.from({ length: 200 }, (_, i) => `${'a'.repeat(3 + (i % 190))} b`);
    const password = `${'a'.repeat(250)}bcdefX`;
    await expect(rejectWeakPassword(password, { ...JANE, accounts })).resolves.toBeUndefined();
  });
});

it('a name is one line of 1 to 100 characters', () => {
  expect(parsePersonName('  Jane Doe ')).toBe('Jane Doe');
  for (const name of ['', '  ', 'a\nb', 'a\u0000', '\ud800', 'x'.repeat(101)])
    expect(() => parsePersonName(name)).toThrow(expect.objectContaining({ details: { field: 'name' } }));
});
