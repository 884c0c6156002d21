import { describe, expect, it } from 'vitest';
import { Refusal } from '../../kernel/errors.ts';
import { asked, hasCookie, headersOf } from './calls.ts';
import { relyingParty } from './relying-party.ts';

const cookieOf = (cookie: string | undefined, ...names: Parameters<typeof headersOf>[1][]) =>
  headersOf({ cookie, origin: undefined }, ...names).get('cookie');

describe('cookies', () => {
  const sent =
    'a=b; mailvet.session_token=s.1; __Secure-mailvet.two_factor=t=.2;mailvet.passkey=p; mailvet.session_token_x=no';

  it('go to the library one by one', () => {
    expect(cookieOf(sent, 'session_token')).toBe('mailvet.session_token=s.1');
    expect(cookieOf(sent, 'two_factor')).toBe('__Secure-mailvet.two_factor=t=.2');
    expect(cookieOf(sent, 'session_token', 'passkey')).toBe('mailvet.session_token=s.1; mailvet.passkey=p');
    expect(cookieOf(sent)).toBeNull();
    expect(cookieOf(undefined, 'session_token')).toBeNull();
  });

  it('are found by their whole name', () => {
    expect(hasCookie(sent, 'session_token')).toBe(true);
    for (const none of [
      undefined,
      '',
      'x',
      '=',
      'xmailvet.session_token=1',
      'mailvet.session_token',
      'better-auth.session_token=1',
    ])
      expect(hasCookie(none, 'session_token')).toBe(false);
  });
});

describe('errors of the library', () => {
  const libraryError = (status: string, code?: string) =>
    Object.assign(new Error('words of the library'), { name: 'APIError', status, body: code ? { code } : undefined });
  const failing = (error: Error) =>
    asked({ INVALID_X: 'wrong_code', CONFLICT: ['wrong_code', 'Both at once.'] }, () => Promise.reject(error));

  it('are said in our words: by code, then by status', async () => {
    await expect(failing(libraryError('BAD_REQUEST', 'INVALID_X'))).rejects.toMatchObject({ code: 'wrong_code' });
    await expect(failing(libraryError('CONFLICT'))).rejects.toMatchObject({
      code: 'wrong_code',
      message: 'Both at once.',
    });
    await expect(failing(libraryError('UNAUTHORIZED', 'UNAUTHORIZED'))).rejects.toMatchObject({
      code: 'not_signed_in',
    });
    await expect(failing(libraryError('FORBIDDEN', 'SESSION_NOT_FRESH'))).rejects.toMatchObject({
      code: 'sign_in_again',
    });
  });

  it('that nobody foresaw are ours', async () => {
    const error = libraryError('BAD_REQUEST', 'SOMETHING_NEW');
    await expect(failing(error)).rejects.toMatchObject({ code: 'internal_error', cause: error });
  });

  it('of others pass', async () => {
    const refusal = new Refusal('overloaded');
    await expect(failing(refusal)).rejects.toBe(refusal);
    await expect(asked({}, () => Promise.resolve(7))).resolves.toBe(7);
  });
});

it.each([
  ['https://mailvet.example.com', 'mailvet.example.com'],
  ['http://localhost:8025', 'localhost'],
  ['http://127.0.0.1:8025', 'localhost'],
  ['http://[::1]:8025', 'localhost'],
  ['http://192.0.2.7', null],
  ['http://[2001:db8::1]', null],
])('passkeys of %s are bound to %s', (url, name) => expect(relyingParty(url)).toBe(name));
