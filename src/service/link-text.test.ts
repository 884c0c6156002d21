import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAILED_NAME_LENGTH } from '../kernel/facts/limits.ts';
import { findLink, harmlessName } from './link-text.ts';

describe('findLink', () => {
  it.each([
    ['evil.com', 'evil.com'],
    ['You won! Visit evil.com/prize now', 'evil.com/prize'],
    ['HTTPS://x', 'HTTPS://x'],
    ['a javascript://x', 'javascript://x'],
    ['mailto:a', 'mailto:a'],
    ['www.x', 'www.x'],
    ['WWW2.x', 'WWW2.x'],
    ['\\\\host\\share', '\\\\host\\share'],
    ['at 192.0.2.1:8080', '192.0.2.1:8080'],
    ['jane@shop.co.uk', 'jane@shop.co.uk'],
    ['пример.рф', 'пример.рф'],
    ['例え。コム', '例え。コム'],
    ['evil。com', 'evil。com'],
    // Full-width letters and dots, a one-dot leader, invisible characters.
    ['ｅｖｉｌ．ｃｏｍ', 'evil.com'],
    ['evil\u2024com', 'evil.com'],
    ['evil.\u200dc\ufe0fom', 'evil.com'],
    // Clients differ in where a host name ends.
    ['evil.com-x', 'evil.com-x'],
    ['evil.com様', 'evil.com様'],
    ['evil.com.notatld', 'evil.com.notatld'],
    ['_x.evil-site.com', '_x.evil-site.com'],
    ['(evil.com)', '(evil.com)'],
  ])('%j has %j', (text, link) => expect(findLink(text)).toBe(link));

  it.each([
    'Acme Inc.',
    'Acme, Inc. (Germany)',
    'Dr. Jane Doe-Smith Jr.',
    'J.R.R. Tolkien',
    'Müller & Söhne e.V.',
    'S.p.A. Rossi',
    'U.S. Robotics',
    'Node.js fans',
    'AC/DC',
    'Team 24/7',
    'version 2.0.1',
    'No.1',
    '山田。太郎',
    'Hotel: Berlin',
    'a...b',
    '...',
    'com',
    '.com',
    'evil . com',
    'أحمد محمد',
    '👩‍💻 Dev',
  ])('%j has none', (text) => expect(findLink(text)).toBeNull());
});

describe('harmlessName', () => {
  it.each([
    ['Acme Inc.', 'Acme Inc.'],
    ['Größe', 'Größe'],
    ['👩‍💻 Dev', '👩‍💻 Dev'],
    ['Visit https://evil.com/win', 'Visit https evil com win'],
    ['a\r\nBcc: x@good\u2028y', 'a Bcc: x@good y'],
    ['\u202eevil\u2066x\u0000', 'evil x'],
    ['\u{e0041}x', 'x'],
    ['ﷺ'.repeat(90).concat('.com'), `${'ﷺ'.repeat(79)}…`],
    ['x'.repeat(200), `${'x'.repeat(79)}…`],
  ])('%j → %j', (name, harmless) => expect(harmlessName(name)).toBe(harmless));

  it('is as short if its characters have long equivalents', () => {
    const name = harmlessName(`${'ﷺ'.repeat(70)} evil.com`);
    expect([...name].length).toBe(MAILED_NAME_LENGTH);
  });

  it('has no links, line breaks or excessive length, whatever the name', () => {
    const pieces = [
      'evil',
      '.',
      '。',
      '．',
      'com',
      'рф',
      '://',
      'http',
      'www',
      '@',
      '\\',
      '/',
      '-',
      ' ',
      '\n',
      '\u202e',
    ];
    const more = [
      '\u200d',
      '\u00ad',
      '1.2.3.4',
      'mailto:',
      'ﬁ',
      '\u2024',
      'é',
      '様',
      '\ud800',
      'xn--p1ai',
      ':',
      '𝐜𝐨𝐦',
      '℡',
      '㏂',
    ];
    const unit = fc.oneof(fc.constantFrom(...pieces, ...more), fc.string({ unit: 'binary', maxLength: 4 }));
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 40 }), (parts) => {
        const name = harmlessName(parts.join(''));
        expect(findLink(name)).toBeNull();
        expect(name).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
        expect([...name].length).toBeLessThanOrEqual(MAILED_NAME_LENGTH);
        expect(harmlessName(name)).toBe(name);
      }),
      { numRuns: 1000 },
    );
  });
});
