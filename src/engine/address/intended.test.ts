import { describe, expect, it } from 'vitest';
import { intendedAddress } from './intended.ts';

const NO_TYPOS = { isKnownDomain: () => false, suggestDomains: ['gmail.com'] };

describe('the address that was probably meant', () => {
  it.each([
    ['Ada <ada@gmail.com>', 'ada@gmail.com'],
    ['"Lovelace, Ada" <ada@gmail.com>', 'ada@gmail.com'],
    ['<ada@gmail.com>', 'ada@gmail.com'],
    ['mailto:ada@gmail.com', 'ada@gmail.com'],
    ['MAILTO:ada@gmail.com?subject=hi', 'ada@gmail.com'],
    ['Ada <mailto:ada@gmail.com>', 'ada@gmail.com'],
    ['ada@gmail.com,', 'ada@gmail.com'],
    ['ada@gmail.com;', 'ada@gmail.com'],
    ['ada@gmail.com.', 'ada@gmail.com'],
    ['ada@gmail,com', 'ada@gmail.com'],
    ['ada@mail,example,org', 'ada@mail.example.org'],
    ['ada@@gmail.com', 'ada@gmail.com'],
    ["'ada@gmail.com'", 'ada@gmail.com'],
    ['Ada <ada@@gmail,com>,', 'ada@gmail.com'],
    ['mailto:ada@gmial.com', 'ada@gmail.com'],
    ['ada@gmail.con', 'ada@gmail.com'],
    ['ada@gmailcom', 'ada@gmail.com'],
    ['Ada@GmailCom', 'Ada@gmail.com'],
    ['ada@gmail..com', 'ada@gmail.com'],
    ['ada@gmail;com', 'ada@gmail.com'],
    ['ada@gmail/com', 'ada@gmail.com'],
  ])('by %s is %s', (text, meant) => expect(intendedAddress(text, NO_TYPOS)).toBe(meant));

  it.each([
    '',
    'ada',
    'ada gmail.com',
    'ada@',
    '@gmail.com',
    'ada..b@gmail.com',
    'a b@gmail.com',
    'a@b@gmail.com',
    'ada@gmail.com, bob@gmail.com',
    'Ada <>',
    'ada @gmail.com',
    'ada@localhost',
    'ada..b@gmailcom',
    'mailto:',
    `${'<'.repeat(500)}ada@gmail.com${'>'.repeat(500)}`,
  ])('by %s is not known', (text) => expect(intendedAddress(text, NO_TYPOS)).toBeNull());
});
