import { describe, expect, it } from 'vitest';
import { ApiError } from '../../kernel/errors.ts';
import { callLibrary, hasCookie, headersOf, relyingParty } from './library-calls.ts';

const cookieOf = (cookie: string | undefined, ...names: Parameters<typeof headersOf>[1][]) =>
  headersOf({ cookie, origin: undefined }, ...names).get('cookie');

describe('cookies', () => {
  const sent =
    'a=b; mailvet.session_token=s.1; __Host-mailvet.two_factor=t=.2;mailvet.passkey=p; mailvet.session_token_x=no';

  it('are passed to the library only by name', () => {
    expect(cookieOf(sent, 'session_token')).toBe('mailvet.session_token=s.1');
    expect(cookieOf(sent, 'two_factor')).toBe('__Secure-mailvet.two_factor=t=.2');
    expect(cookieOf(sent, 'session_token', 'passkey')).toBe('mailvet.session_token=s.1; mailvet.passkey=p');
    expect(cookieOf(sent)).toBeNull();
    expect(cookieOf(undefined, 'session_token')).toBeNull();
  });

  it('are matched by their full name', () => {
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
    Object.assign(new Error('message of the library'), { name: 'APIError', status, body: code ? { code } : undefined });
  const failing = (error: Error) =>
    callLibrary({ INVALID_X: 'wrong_code', CONFLICT: ['wrong_code', 'Both at once.'] }, () => Promise.reject(error));

  it('are mapped by code, then by status', async () => {
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

  it('become internal_error if unmapped', async () => {
    const error = libraryError('BAD_REQUEST', 'SOMETHING_NEW');
    await expect(failing(error)).rejects.toMatchObject({ code: 'internal_error', cause: error });
  });

  it('of other kinds pass through', async () => {
    const apiError = new ApiError('overloaded');
    await expect(failing(apiError)).rejects.toBe(apiError);
    await expect(callLibrary({}, () => Promise.resolve(7))).resolves.toBe(7);
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
