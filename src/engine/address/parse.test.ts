import { describe, expect, it } from 'vitest';
import { parseAddress, SYNTAX_ERRORS, type SyntaxErrorCode } from './parse.ts';

const L64 = 'a'.repeat(64);
const LABEL63 = 'b'.repeat(63);
/** 253 octets: three labels of 63, one of 57, `.com`. */
const D253 = `${[LABEL63, LABEL63, LABEL63].join('.')}.${'b'.repeat(57)}.com`;

/** Text → normalized form, where that differs from the text. */
const VALID: readonly (readonly [string, string?])[] = [
  ['jane@example.com'],
  ['Jane.Doe+news@Example.COM', 'Jane.Doe+news@example.com'],
  ["!#$%&'*+-/=?^_`{|}~@example.org"],
  ['a@b.co'],
  ['1@2.de'],
  ['a@1.2.de'],
  ['-a-@a-b.com'],
  [`${L64}@example.com`],
  [`a@${LABEL63}.com`],
  [`${'é'.repeat(32)}@example.com`],
  ['a@example.com'],
  ['a@null.example.net'],
  ['a@co.uk'],
  ['a@foo.ck'],
  ['a@r3---sn-abc.example.com'],
  ['a@e164.arpa'],
  // Quoted local parts (RFC 5321 §4.1.2)
  ['"jane doe"@example.com'],
  ['"a@b"@example.com'],
  ['"a\\"b\\\\c"@example.com'],
  ['"a..b."@example.com'],
  ['"<>()[],:;"@example.com'],
  ['""@example.com'],
  ['"jané doe"@example.com'],
  // UTF-8 local parts (RFC 6531)
  ['jörg@example.com'],
  ['用户@例え.jp', '用户@xn--r8jz45g.jp'],
  ['δοκιμή@παράδειγμα.ελ', 'δοκιμή@xn--hxajbheg2az3al.xn--qxam'],
  ['उदाहरण@example.in'],
  ['😀@example.com'],
  ['❤️@example.com'],
  ['o\u0308@example.com'],
  // UTS 46 mapping, nontransitional
  ['a@exämple.com', 'a@xn--exmple-cua.com'],
  ['a@EXÄMPLE.com', 'a@xn--exmple-cua.com'],
  ['a@exa\u0308mple.com', 'a@xn--exmple-cua.com'],
  ['a@faß.de', 'a@xn--fa-hia.de'],
  ['a@ｇｍａｉｌ．com', 'a@gmail.com'],
  ['a@example。com', 'a@example.com'],
  ['a@example｡com', 'a@example.com'],
  ['a@xn--exmple-cua.com'],
  ['a@XN--EXMPLE-CUA.com', 'a@xn--exmple-cua.com'],
  ['a@пример.рф', 'a@xn--e1afmkfd.xn--p1ai'],
  ['a@example.xn--p1ai'],
  ['a@l·l.cat', 'a@xn--ll-0ea.cat'],
  ['a@אבג.co.il', 'a@xn--4dbcd.co.il'],
  ['a@א1.com', 'a@xn--1-zhc.com'],
  ['a@نامه\u200cای.com', 'a@xn--mgba3gch31f060k.com'],
];

const INVALID: readonly (readonly [string, SyntaxErrorCode, number])[] = [
  ['', 'missing_at', 0],
  ['jane', 'missing_at', 4],
  ['jane doe', 'missing_at', 8],
  ['"a@b"', 'missing_at', 5],
  ['@', 'empty_local_part', 0],
  ['@example.com', 'empty_local_part', 0],
  [`${L64}a@example.com`, 'local_part_too_long', 64],
  [`${'é'.repeat(33)}@example.com`, 'local_part_too_long', 32],
  [`${'😀'.repeat(17)}@example.com`, 'local_part_too_long', 32],
  [`"${'a'.repeat(63)}"@example.com`, 'local_part_too_long', 64],
  ['.jane@example.com', 'leading_dot', 0],
  ['jane.@example.com', 'trailing_dot', 4],
  ['.@example.com', 'leading_dot', 0],
  ['jane..doe@example.com', 'double_dot', 5],
  ['jane...@example.com', 'double_dot', 5],
  ['jane,doe@example.com', 'invalid_character', 4],
  ['mailto:jane@example.com', 'invalid_character', 6],
  ['jane\\@example.com', 'invalid_character', 4],
  ['jane＠example@example.com', 'invalid_character', 4],
  ['\u0301a@example.com', 'invalid_character', 0],
  ['a.\u0301@example.com', 'invalid_character', 2],
  ['a"b"@example.com', 'misplaced_quote', 1],
  ['"a"b@example.com', 'invalid_character', 3],
  ['"a".b@example.com', 'invalid_character', 3],
  ['"a@example.com', 'unclosed_quote', 0],
  ['"a@example.com\\', 'unclosed_quote', 0],
  ['"a\\é"@example.com', 'invalid_character', 3],
  ['Jane <jane@example.com>', 'display_name', 5],
  ['<jane@example.com>', 'display_name', 0],
  ['"Jane Doe" <jane@example.com>', 'display_name', 11],
  ['jane(work)@example.com', 'comment', 4],
  ['jane@(work)example.com', 'comment', 5],
  ['jane@example.com(work)', 'comment', 16],
  // White space and characters that must never reach a socket
  [' jane@example.com', 'whitespace', 0],
  ['jane@example.com ', 'whitespace', 16],
  ['jane@example.com\n', 'whitespace', 16],
  ['jane@example.com\r\nRCPT TO:<x@example.com>', 'whitespace', 16],
  ['jane@ example.com', 'whitespace', 5],
  ['jane @example.com', 'whitespace', 4],
  ['jane\u00A0doe@example.com', 'whitespace', 4],
  // Characters that NFC makes ASCII.
  ['me.\u037E@example.com', 'invalid_character', 3],
  ['"a\u1FEF\u037E"@example.com', 'invalid_character', 2],
  ['jane@exam\u3000ple.com', 'whitespace', 9],
  ['"a\tb"@example.com', 'whitespace', 2],
  ['"a\r\nb"@example.com', 'whitespace', 2],
  ['"a\\\nb"@example.com', 'whitespace', 3],
  ['"a\u2028b"@example.com', 'whitespace', 2],
  ['a\0b@example.com', 'control_character', 1],
  ['"a\0b"@example.com', 'control_character', 2],
  ['"a\\\0b"@example.com', 'control_character', 3],
  ['a\x7Fb@example.com', 'control_character', 1],
  ['a\x9Fb@example.com', 'control_character', 1],
  ['a@b\x01.com', 'control_character', 3],
  ['a\u202Eb@example.com', 'unsafe_character', 1],
  ['"a\u2066b"@example.com', 'unsafe_character', 2],
  ['a\u200Bb@example.com', 'unsafe_character', 1],
  ['\uFEFFa@example.com', 'unsafe_character', 0],
  ['a\uE000@example.com', 'unsafe_character', 1],
  ['a\uFFFD@example.com', 'unsafe_character', 1],
  ['a\uFFFF@example.com', 'unsafe_character', 1],
  ['a\u3164@example.com', 'unsafe_character', 1],
  ['a\u{E0041}@example.com', 'unsafe_character', 1],
  ['a\u0378@example.com', 'unsafe_character', 1],
  ['a@exam\u200Bple.com', 'unsafe_character', 6],
  ['a@exam\u00ADple.com', 'unsafe_character', 6],
  ['a\uD800@example.com', 'broken_unicode', 1],
  ['"a\uDC00"@example.com', 'broken_unicode', 2],
  ['"a\\\uD83D"@example.com', 'broken_unicode', 3],
  ['a@b\uD800.com', 'broken_unicode', 3],
  // Domains
  ['a@', 'empty_domain', 2],
  ['a@b@example.com', 'multiple_at', 3],
  ['a@@example.com', 'multiple_at', 2],
  ['a@[192.0.2.1]', 'domain_literal', 2],
  ['a@[IPv6:2001:db8::1]', 'domain_literal', 2],
  ['a@192.0.2.1', 'numeric_tld', 10],
  ['a@example.123', 'numeric_tld', 10],
  ['a@.example.com', 'leading_dot', 2],
  ['a@.', 'leading_dot', 2],
  ['a@example..com', 'double_dot', 10],
  ['a@example。.com', 'double_dot', 10],
  ['a@example.com.', 'trailing_dot', 13],
  ['a@example.com。', 'trailing_dot', 13],
  ['a@exam_ple.com', 'invalid_character', 6],
  ['a@example.com>', 'invalid_character', 13],
  ['a@ex[ample.com', 'invalid_character', 4],
  ['a@localhost', 'single_label', 2],
  ['a@com', 'single_label', 2],
  ['a@bücher', 'single_label', 2],
  ['a@foo.test', 'reserved_tld', 6],
  ['a@foo.ＴＥＳＴ', 'reserved_tld', 6],
  ['a@foo.example', 'reserved_tld', 6],
  ['a@foo.invalid', 'reserved_tld', 6],
  ['a@foo.localhost', 'reserved_tld', 6],
  ['a@foo.local', 'reserved_tld', 6],
  ['a@foo.onion', 'reserved_tld', 6],
  ['a@foo.alt', 'reserved_tld', 6],
  ['a@foo.internal', 'reserved_tld', 6],
  ['a@home.arpa', 'reserved_tld', 7],
  ['a@foo.home.arpa', 'reserved_tld', 11],
  ['a@1.16.172.in-addr.arpa', 'reserved_tld', 19],
  ['a@example.con', 'unknown_tld', 10],
  ['a@example.localdomain', 'unknown_tld', 10],
  ['a@例え.テスト', 'unknown_tld', 5],
  ['a@-example.com', 'label_hyphen', 2],
  ['a@example-.com', 'label_hyphen', 9],
  ['a@www.ex.-a.com', 'label_hyphen', 9],
  ['a@ä-.com', 'label_hyphen', 3],
  ['a@ä.－b.com', 'label_hyphen', 4],
  [`a@${LABEL63}b.com`, 'label_too_long', 65],
  [`a@x.${'ü'.repeat(60)}.com`, 'label_too_long', 4],
  [`a@x.${'ü'.repeat(300)}.com`, 'label_too_long', 4],
  [`a@${D253}`, 'address_too_long', 254],
  [`a@b${D253}`, 'label_too_long', 65],
  [`a@b.${D253}`, 'domain_too_long', 255],
  [`a@ü.${D253}`, 'domain_too_long', 2],
  [`é@${D253}`, 'address_too_long', 2],
  [`${L64}@${'b'.repeat(62)}.${LABEL63}.${LABEL63}.com`, 'address_too_long', 254],
  // IDNA2008
  ['a@i❤.ws', 'invalid_character', 3],
  ['a@www.😀.com', 'invalid_character', 6],
  ['a@xn--i-7iq.ws', 'invalid_idna', 2],
  ['a@b.xn--a.com', 'invalid_idna', 4],
  ['a@xn--.com', 'label_hyphen', 5],
  ['a@xn--\u00E4.com', 'invalid_idna', 2],
  ['a@xn--zzzzzzzzzzzzzzz.com', 'invalid_idna', 2],
  ['a@xn--fass-.com', 'label_hyphen', 10],
  ['a@xn--xn--a-xxa.com', 'invalid_idna', 2],
  ['a@ab--ä.com', 'invalid_idna', 2],
  ['a@ex…ample.com', 'invalid_character', 4],
  ['a@ﷺ.com', 'invalid_character', 2],
  ['a@a·b.com', 'invalid_idna', 2],
  ['a@ab・c.com', 'invalid_idna', 2],
  ['a@a\u200Db.com', 'invalid_idna', 2],
  ['a@\u0301a.com', 'invalid_idna', 2],
  ['a@www.1א.com', 'invalid_idna', 6],
  ['a@1a.א.com', 'invalid_idna', 2],
];

const parse = (text: string) => {
  const parsed = parseAddress(text);
  return parsed.ok ? parsed.address : { error: parsed.error, index: parsed.index };
};

describe('parseAddress', () => {
  it.each(VALID.map(([text, normalized = text]) => [text, normalized] as const))('%j → %j', (text, normalized) => {
    expect(parse(text)).toMatchObject({ raw: text, normalized });
  });

  it.each(INVALID)('%j: %s at %i', (text, error, index) => {
    expect(parse(text)).toEqual({ error, index });
  });

  it('has a test row for every code', () => {
    expect([...new Set(INVALID.map(([, error]) => error))].sort()).toEqual(Object.keys(SYNTAX_ERRORS).sort());
  });

  it('returns the parts of the address', () => {
    expect(parse('Jane.Doe+news+x@exämple.com')).toEqual({
      raw: 'Jane.Doe+news+x@exämple.com',
      localPart: 'Jane.Doe+news+x',
      quoted: false,
      domain: 'xn--exmple-cua.com',
      unicodeDomain: 'exämple.com',
      tag: 'news+x',
      normalized: 'Jane.Doe+news+x@xn--exmple-cua.com',
      needsSmtputf8: false,
    });
    expect(parse('"a+b"@xn--exmple-cua.com')).toMatchObject({ quoted: true, tag: null, unicodeDomain: 'exämple.com' });
    expect(parse('jörg@example.com')).toMatchObject({ needsSmtputf8: true, tag: null });
    expect(parse('+a@example.com')).toMatchObject({ tag: null });
    expect(parse('a+@example.com')).toMatchObject({ tag: null });
  });

  it('accepts special-use names, and only those, with allowReserved', () => {
    for (const domain of ['foo.test', 'foo.local', 'foo.home.arpa', 'a.b.internal']) {
      expect(parseAddress(`a@${domain}`, { allowReserved: true })).toMatchObject({ ok: true, address: { domain } });
    }
    expect(parseAddress('a@foo.con', { allowReserved: true })).toMatchObject({ error: 'unknown_tld' });
    expect(parseAddress('a@test', { allowReserved: true })).toMatchObject({ error: 'single_label' });
    expect(parseAddress('a@[127.0.0.1]', { allowReserved: true })).toMatchObject({ error: 'domain_literal' });
  });

  it('does not cache TLDs that do not exist, and rejects `onion` every time', () => {
    for (let i = 0; i < 2; i++) expect(parse('a@b.onion')).toMatchObject({ error: 'reserved_tld' });
    for (let i = 0; i < 2; i++) expect(parse('a@b.nosuchtld')).toMatchObject({ error: 'unknown_tld' });
  });
});
