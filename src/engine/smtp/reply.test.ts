import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SMTP_MESSAGE_LENGTH } from '../../kernel/facts/limits.ts';
import { blankedText, MAX_LINE_BYTES, MAX_LINES, ReplyParser, type SmtpReply } from './reply.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');
const read = (...chunks: (string | Uint8Array)[]): { replies: SmtpReply[]; violation: string | null } => {
  const parser = new ReplyParser();
  const replies = chunks.flatMap((chunk) => parser.push(typeof chunk === 'string' ? bytes(chunk) : chunk));
  return { replies, violation: parser.violation };
};
const one = (text: string | Uint8Array): SmtpReply => {
  const { replies, violation } = read(text);
  expect(violation).toBeNull();
  expect(replies).toHaveLength(1);
  return replies[0]!;
};

describe('a reply', () => {
  it('has code, enhanced code, lines and text', () => {
    expect(one('550-5.1.1 The account does not exist.\r\n550 5.1.1 Learn more\r\n')).toEqual({
      code: 550,
      enhanced: '5.1.1',
      lines: ['5.1.1 The account does not exist.', '5.1.1 Learn more'],
      texts: ['The account does not exist.', 'Learn more'],
      text: 'The account does not exist. Learn more',
      mixed: false,
    });
  });

  it('may lack its text, end in a bare LF, use a tab', () => {
    expect(one('250\r\n')).toMatchObject({ code: 250, enhanced: null, lines: [''], text: '' });
    expect(one('250-\n250 \n')).toMatchObject({ code: 250, lines: ['', ''], text: '' });
    expect(one('220\tmx ESMTP\n').text).toBe('mx ESMTP');
  });

  it('may arrive in pieces, or several at once', () => {
    expect(read('250-a\r', '\n250', ' b\r\n').replies.map((r) => r.text)).toEqual(['a b']);
    expect(read('250 ok\r\n250 2.1.5 ok\r\n421 4.3.2 bye\r\n').replies.map((r) => r.code)).toEqual([250, 250, 421]);
    expect(read('250-a\r\n', '25').replies).toEqual([]);
  });

  it('has the last code if the lines differ, and flags it if their classes do', () => {
    expect(one('550-no\r\n450 4.2.0 later\r\n')).toMatchObject({ code: 450, enhanced: '4.2.0', mixed: true });
    expect(one('550-no\r\n553 5.1.1 no\r\n')).toMatchObject({ code: 553, mixed: false });
  });

  it('has an enhanced code only at the start and if its class matches', () => {
    expect(one('550 4.1.1 x\r\n').enhanced).toBeNull();
    expect(one('550 no 5.1.1\r\n').enhanced).toBeNull();
    expect(one('550 5.1.1.1 x\r\n').enhanced).toBeNull();
    expect(one('550 5.7.606 x\r\n').enhanced).toBe('5.7.606');
    expect(one('550 5.1.1\r\n')).toMatchObject({ enhanced: '5.1.1', text: '' });
    expect(one('550 5.1.1: x\r\n')).toMatchObject({ enhanced: '5.1.1', text: 'x' });
  });

  it('is decoded as UTF-8, else as Latin-1, without control characters', () => {
    expect(one('550 Boîte inconnue\r\n').text).toBe('Boîte inconnue');
    expect(one(Buffer.from('550 Bo\xeete inconnue\r\n', 'latin1')).text).toBe('Boîte inconnue');
    expect(one('550 a\u0000b\u001b[2J\u202ec\r\n').text).toBe('a\ufffdb\ufffd[2J\ufffdc');
    expect(one('550 a\rb\r\n').text).toBe('a\ufffdb');
  });
});

describe('a violation', () => {
  it.each([
    ['HTTP/1.1 400 Bad Request\r\n', 'not an SMTP reply'],
    ['\r\n', 'not an SMTP reply'],
    ['250ok\r\n', 'not an SMTP reply'],
    ['25 ok\r\n', 'not an SMTP reply'],
    ['150 ok\r\n', 'not an SMTP reply'],
    ['650 ok\r\n', 'not an SMTP reply'],
    [`250 ${'x'.repeat(MAX_LINE_BYTES)}\r\n`, 'line too long'],
    ['x'.repeat(MAX_LINE_BYTES + 2), 'line too long'],
    ['250-a\r\n'.repeat(MAX_LINES) + '250 a\r\n', 'too many lines in one reply'],
    [`250-${'x'.repeat(2000)}\r\n`.repeat(40), 'reply too long'],
  ])('%#: %.20s', (text, why) => {
    expect(read(text).violation).toBe(why);
  });

  it('keeps complete replies before it, and ignores further input', () => {
    const parser = new ReplyParser();
    expect(parser.push(bytes('250 ok\r\n!!\r\n250 never\r\n')).map((r) => r.text)).toEqual(['ok']);
    expect(parser.push(bytes('250 ok\r\n'))).toEqual([]);
  });

  it('does not occur exactly at the limits', () => {
    expect(one(`250 ${'x'.repeat(MAX_LINE_BYTES - 4)}\r\n`).text).toHaveLength(MAX_LINE_BYTES - 4);
    expect(read(`250 ${'x'.repeat(MAX_LINE_BYTES - 4)}\r`, '\n').replies).toHaveLength(1);
    expect(one('250-a\r\n'.repeat(MAX_LINES - 1) + '250 a\r\n').lines).toHaveLength(MAX_LINES);
  });
});

// Pieces of real dialogues and garbage; joined, they form replies often enough to exercise every branch.
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('250', '550', '421', '-', ' ', '\r\n', '\n', '\r', '5.1.1 ', '4.7.1', 'ok') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('250 ok\r\n', '550-5.1.1 a\r\n550 5.1.1 b\r\n', '250-x\n250 y\n', '451\r\n'),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 6, unit: 'binary' }) },
  { weight: 1, arbitrary: fc.constantFrom('é', '\u0000', 'x'.repeat(1023), 'y'.repeat(2047)) },
);
const stream = fc.array(piece, { maxLength: 14 }).map((pieces) => bytes(pieces.join('')));
const raw = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array));

it('100,000 streams parse the same however they are split, and never throw', () => {
  fc.assert(
    fc.property(
      fc.oneof({ weight: 4, arbitrary: stream }, raw),
      fc.array(fc.nat(4000), { maxLength: 6 }),
      (all, at) => {
        const cuts = [...new Set(at.map((n) => n % (all.length + 1)))].sort((a, b) => a - b);
        const chunks = [0, ...cuts].map((cut, i) => all.subarray(cut, cuts[i] ?? all.length));
        const whole = read(all);
        const cut = read(...chunks);
        if (JSON.stringify(whole) !== JSON.stringify(cut)) expect(cut).toEqual(whole);
      },
    ),
    { numRuns: 100_000 },
  );
}, 120_000);

it.each([
  [
    'The email account that you tried to reach is disabled',
    'jane',
    'The email account that you tried to reach is disabled',
  ],
  ['<jane.doe@example.com>: User unknown', 'jane.doe', '<***>: User unknown'],
  ['Jane Doe has left; write to joe@example.com', 'jane.doe', '*** *** has left; write to ***'],
  ['no JANEDOE here', 'jane.doe', 'no *** here'],
  ['see https://mail.example/why?to=jane%40example.com for jane', 'jane', 'see https://mail.example/why for ***'],
  ['janet is not jane', 'jane', 'janet is not ***'],
])('what is kept of “%s”, said about %s@', (text, localPart, kept) => expect(blankedText(text, localPart)).toBe(kept));

it('what is kept of a reply is bounded, and never has the local part or an address', () => {
  const word = fc.stringMatching(/^[a-z]{3,12}$/);
  const parts = fc.oneof(
    word,
    fc.constantFrom(' ', '<', '>', '@', '@example.com', '%40', '?', 'https://x.example/', '=', '.'),
  );
  fc.assert(
    fc.property(word, fc.array(parts, { maxLength: 60 }), (local, around) => {
      const text = around.join('') + ` <${local}@example.com> ${local} ${around.join(' ')}`;
      const kept = blankedText(text, local);
      expect(kept.length).toBeLessThanOrEqual(SMTP_MESSAGE_LENGTH.max);
      expect(kept.split(/[^a-z]+/)).not.toContain(local);
      expect(kept).not.toMatch(/[a-z]@[a-z]/);
    }),
  );
});

it('a reply of 64 KiB without a space is blanked in the time of its beginning', () => {
  expect(blankedText('a'.repeat(65_536), 'jane')).toHaveLength(SMTP_MESSAGE_LENGTH.max);
});
