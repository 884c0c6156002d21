import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadDomainData } from '../data/domain-data.ts';
import { parseAddress } from './parse.ts';
import { intendedAddress, providerElsewhere } from './suggest.ts';

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
    'a b@gmail.com',
    'john smith@gmail.com',
    'a@b@gmail.com',
    'ada@gmail.com, bob@gmail.com',
    'Ada <>',
    'ada@localhost',
    'awesome.com',
    'mailto:',
    'write to ada at once',
    'ada@host corp.example',
    'ada@example com',
  ])('by %s is not known', (text) => expect(intendedAddress(text, NO_TYPOS)).toBeNull());
});

/** What a caller is told, whether or not the text parses. */
const lists = loadDomainData();
const suggestion = (text: string): string | null => intendedAddress(text, lists);

describe('with the lists, the address that was plainly meant', () => {
  const KINDS: Readonly<Record<string, readonly (readonly [text: string, meant: string])[]>> = {
    'blanks inside': [
      ['bo. kranz@web.de', 'bo.kranz@web.de'],
      ['bo.kranz @web.de', 'bo.kranz@web.de'],
      ['bo.kranz@\tweb.de', 'bo.kranz@web.de'],
      ['bo.kranz@web . de', 'bo.kranz@web.de'],
      ['cleo@yahoo co uk', 'cleo@yahoo.co.uk'],
      ['cleo@some -where.example.org', 'cleo@some-where.example.org'],
      ['cleo@outlook\u00a0.com', 'cleo@outlook.com'],
      ['cleo@i cloud.com', 'cleo@icloud.com'],
      ['cleo@g mail. com', 'cleo@gmail.com'],
    ],
    'what stands around': [
      ['„bo@web.de“', 'bo@web.de'],
      ['“bo@web.de”', 'bo@web.de'],
      ['{bo@web.de}', 'bo@web.de'],
      ['**bo@web.de**', 'bo@web.de'],
      ['bo@web.de>', 'bo@web.de'],
      ['bo@web.de)', 'bo@web.de'],
      ['bo@web.de!', 'bo@web.de'],
      ['bo@web.de (privat)', 'bo@web.de'],
      ['Mail: bo@web.de', 'bo@web.de'],
      ['SMTP:bo@web.de', 'bo@web.de'],
      ['Kontakt:bo@web.de', 'bo@web.de'],
      ['Bo Kranz bo@web.de', 'bo@web.de'],
      ['Bo Kranz <bo@web.de', 'bo@web.de'],
      ['"Kranz, Bo" [bo@web.de]', 'bo@web.de'],
      ['bo@http://web.de', 'bo@web.de'],
      ['bo@web.de/', 'bo@web.de'],
      ['<bo@web.de>;', 'bo@web.de'],
      ['( bo@web.de )', 'bo@web.de'],
      ['< bo@web.de >', 'bo@web.de'],
      ['» bo@web.de «', 'bo@web.de'],
      ['Bo Kranz < bo@web.de >', 'bo@web.de'],
    ],
    'the at sign': [
      ['bo[at]web.de', 'bo@web.de'],
      ['bo [AT] web.de', 'bo@web.de'],
      ['bo {at} web.de', 'bo@web.de'],
      ['bo AT web.de', 'bo@web.de'],
      ['bo (at) web (dot) de', 'bo@web.de'],
      ['bo at web dot de', 'bo@web.de'],
      ['bo&#64;web.de', 'bo@web.de'],
      ['bo&#x40;web.de', 'bo@web.de'],
      ['bo&commat;web.de', 'bo@web.de'],
      ['bo＠web.de', 'bo@web.de'],
      ['bo@@@web.de', 'bo@web.de'],
      ['bo@ @web.de', 'bo@web.de'],
      ['bo@yahoo@co@uk', 'bo@yahoo.co.uk'],
      ['bokranz2hotmail.com', 'bokranz@hotmail.com'],
      ['bokranzoutlook.com', 'bokranz@outlook.com'],
    ],
    'dots and the top-level domain of a provider': [
      ['bo@yahoo', 'bo@yahoo.com'],
      ['bo@outlook', 'bo@outlook.com'],
      ['bo@yahoo-com', 'bo@yahoo.com'],
      ['bo@hotmail.comcom', 'bo@hotmail.com'],
      ['bo@yahoo.co.uk.uk', 'bo@yahoo.co.uk'],
      ['bo@web.dede', 'bo@web.de'],
      ['bo.@web.de', 'bo@web.de'],
      ['.bo@web.de', 'bo@web.de'],
      ['bo...kranz@web.de', 'bo.kranz@web.de'],
      ['bo+news.@web.de', 'bo+news@web.de'],
      ['bo@.web.de', 'bo@web.de'],
      ['bo@web..de.', 'bo@web.de'],
    ],
    'typographic and full-width characters': [
      ['anna―maria@web.de', 'anna-maria@web.de'],
      ['anna−maria@web.de', 'anna-maria@web.de'],
      ['o’neil@web.de', "o'neil@web.de"],
      ['ｂｏ@web.de', 'bo@web.de'],
      ['bo．kranz@web.de', 'bo.kranz@web.de'],
      ['bo＋x@web.de', 'bo+x@web.de'],
      ['bo´kranz@web.de', 'bokranz@web.de'],
      ['bo\u200b.kranz@web.de', 'bo.kranz@web.de'],
      ['bo@web\u200b.de', 'bo@web.de'],
      ['bo@some–where.example.org', 'bo@some-where.example.org'],
      ['bo@web。de', 'bo@web.de'],
    ],
    'letters that look alike': [
      ['bo@gооgle.com', 'bo@google.com'],
      ['bo@hotmаil.com', 'bo@hotmail.com'],
      ['bo@уahoo.com', 'bo@yahoo.com'],
      ['bo@іcloud.com', 'bo@icloud.com'],
      ['bo@outlооk.com', 'bo@outlook.com'],
      ['bo@yahöö.com', 'bo@yahoo.com'],
      ['bo@web.ԁe', 'bo@web.de'],
      ['bo@exаmple-shop.com', 'bo@example-shop.com'],
      ['bо.kranz@web.de', 'bo.kranz@web.de'],
      ['kranz.Bо@gооgle.com', 'kranz.Bo@google.com'],
    ],
  };
  for (const [kind, rows] of Object.entries(KINDS))
    it.each(rows)(`is found, ${kind}: %s`, (text, meant) => {
      const found = suggestion(text);
      // Of an address that parses without what nobody sees, there is nothing to suggest.
      expect(found ?? parseAddress(text)).toSatisfy(() => found === meant || isTheSame(text, meant));
    });
  const isTheSame = (text: string, meant: string): boolean => {
    const parsed = parseAddress(text);
    return parsed.ok && parsed.address.normalized === meant;
  };

  it.each([
    ['ada@gmail.de', 'ada@gmail.com'],
    ['ada@yahoo.xyz', 'ada@yahoo.com'],
    ['ada@icloud.de', 'ada@icloud.com'],
    ['ada@hotmail.co.nz', 'ada@hotmail.com'],
    // Words, short names, the provider itself, and names of others.
    ['ada@mail.xyz', null],
    ['ada@web.com', null],
    ['ada@gmail.com', null],
    ['ada@example.net', null],
  ])('of %s, whose domain takes no mail, is %s', (text, meant) => {
    const parsed = parseAddress(text);
    expect(parsed.ok && providerElsewhere(parsed.address, lists)).toBe(meant);
  });

  it.each([
    'josé@example.com',
    'zoë.müller@example.de',
    'иван@пример.рф',
    '用户@例子.广告',
    'δοκιμή@παράδειγμα.ελ',
    'ada@bücher.ch',
    'ada@münchen.de',
    'ada@пример.com',
    'ada@żółw.pl',
    'ada@東京.jp',
    'ada@яндекс.com',
    'bo.кранц@example.com',
    'jose\u0301@example.com',
    'οδός.bo@example.com',
    'оса@example.com',
    "o'neil@example.com",
    'anna-maria@example.com',
    '"a b"@example.com',
    'ada@xn--bcher-kva.ch',
  ])('of %s is none: it is right as it stands', (text) => expect(suggestion(text)).toBeNull());

  it('is an address whatever was sent, and never the text itself', () => {
    const piece = fc.constantFrom(
      'ada',
      'Bo',
      '@',
      '＠',
      '.',
      ' ',
      '(at)',
      '"',
      '<',
      '>',
      'gmail',
      '.com',
      ',',
      ':',
      '–',
      'е',
      '%40',
      '\u200b',
      '(',
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
      fc.string(),
    );
    fc.assert(
      fc.property(text, (sent) => {
        const found = suggestion(sent);
        if (found === null) return;
        expect(parseAddress(found)).toMatchObject({ ok: true });
        expect(found).not.toBe(sent);
      }),
      { numRuns: 2_000 },
    );
  });
});
