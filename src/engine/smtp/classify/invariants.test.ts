import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataFile } from '../../data-files.ts';
import type { SmtpStage } from '../../evidence.ts';
import { createClassifier, type RuleReading } from '../classify.ts';
import type { LabelledReply } from './evaluation.ts';

const { classify, template } = createClassifier();
const echoes = {
  address: 'someone@example.com',
  ourNames: ['probe.example.net', 'verify@probe.example.net'],
  ourIps: ['192.0.2.25'],
};
const BAD = ['mailbox_not_found', 'mailbox_full', 'mailbox_disabled', 'relay_denied'];

/** `"550 5.1.1 text"` read at RCPT. */
function read(line: string, more: { address?: string } = {}): RuleReading {
  const [, code, enhanced, text] = /^(\d{3}) (?:([245]\.\d+\.\d+) )?(.*)$/s.exec(line)!;
  const reply = { code: Number(code), enhanced: enhanced ?? null, text: text ?? '' };
  return classify({ stage: 'rcpt', reply, operator: null, echoes: { ...echoes, ...more } });
}

describe('echoed strings do not influence the result', () => {
  const locals = [
    'blocked',
    'spamhaus',
    'unknown.user',
    'blacklist',
    'policy',
    'greylist',
    'quota.full',
    'no-such-user',
    'sender',
    'disabled',
    'dmarc',
    'user',
    'mailbox',
    'relay.denied',
  ];
  const domains = ['example.com', 'spam-blocked.example', 'full.disabled.test'];
  const replies = [
    '550 5.1.1 <%>: Recipient address rejected: User unknown in virtual mailbox table',
    '550 5.1.1 %... User unknown',
    '550 No such user (%)',
    '550 %: user not found',
    '450 4.2.0 <%>: Recipient address rejected: Greylisted, try later',
    '554 5.7.1 <%>: Relay access denied',
    '550 5.7.1 Mail to <%> refused: client [192.0.2.25] is listed at zen.spamhaus.org',
    '552 5.2.2 <%> mailbox is full',
    '550 5.7.1 <%> hm',
    '550 <%> hm',
    '550 5.1.1 <%> hm so',
    '451 4.3.0 <%>: Temporary lookup failure',
    '550 Verification failed for <verify@probe.example.net>, so <%> gets nothing',
  ];

  it.each(replies)('the address: %s', (reply) => {
    const plain = read(reply.replace('%', echoes.address));
    for (const address of locals.flatMap((local) => domains.map((domain) => `${local}@${domain}`))) {
      expect(read(reply.replace('%', address), { address }), address).toEqual(plain);
      expect(read(reply.replace('%', address.toUpperCase()), { address }), address).toEqual(plain);
    }
  });

  it.each(['blocked', 'spamhaus', 'unknown.user', 'dmarc'])('the bare local part: %s', (local) => {
    const address = `${local}@example.com`;
    expect(read(`550 5.1.1 ${local}: user unknown`, { address }).finding).toBe('mailbox_not_found');
    expect(read(`550 hm ${local}`, { address }).rule).toBe('unmatched.5xx');
    expect(read(`550 5.7.1 hm, ${local}`, { address }).rule).toBe('code.policy');
  });

  it('any word of any known reply as the local part', () => {
    const texts = (
      JSON.parse(readFileSync(dataFile('sources/smtp-reply-forms.json'), 'utf8')) as { rows: LabelledReply[] }
    ).rows.map((row) => row.text);
    const locals = new Set(texts.flatMap((text) => text.toLowerCase().match(/[a-z][a-z.-]*[a-z]/g) ?? []));
    expect(locals.size).toBeGreaterThan(500);
    const changed = replies.flatMap((reply) => {
      const plain = read(reply.replace('%', echoes.address)).finding;
      return [...locals]
        .filter(
          (local) =>
            read(reply.replace('%', `${local}@x.example`), { address: `${local}@x.example` }).finding !== plain,
        )
        .map((local) => `${local}: ${reply}`);
    });
    expect(changed).toEqual([]);
  }, 120_000);

  it('URLs, host names and ids', () => {
    for (const noise of [
      'https://blocked.example/spam?policy=greylist',
      'http://user-unknown.example.org/no.such.user',
      'spam.blocked-hosts.example',
      'a1b2c3-spamhaus-0123456789',
    ]) {
      expect(read(`550 5.1.1 User unknown ${noise}`).rule).toBe(read('550 5.1.1 User unknown').rule);
      expect(read(`550 hm ${noise}`).rule).toBe('unmatched.5xx');
    }
  });

  it('a template does not depend on echoes, names and numbers, but on the text', () => {
    const of = (text: string, address = echoes.address) =>
      template({ reply: { code: 550, enhanced: null, text }, echoes: { ...echoes, address } });
    expect(of('hm <someone@example.com> 192.0.2.25 id=4Xyz12Abc99Q')).toEqual(
      of('hm <x@y.example> 192.0.2.99 id=7Qrs88Dfe11W', 'x@y.example'),
    );
    expect(of('Hm, Edda Lovelace (staff of analytical) left 10.12.1852', 'edda.lovelace@analytical.example').text).toBe(
      'hm _name _name staff of _name left #',
    );
    expect(of('Hm: mailbox closed', 'closed.mailbox@example.com').text).toBe('hm mailbox closed');
    expect(of('hm').fingerprint).not.toBe(of('ah').fingerprint);
    expect(of('hm').fingerprint).toMatch(/^[\da-f]{12}$/);
    expect(of(`hm ${'\u{1f600} x'.repeat(1000)}`).text.length).toBeLessThanOrEqual(300);
    expect(of(`h${'\u{1f600}'.repeat(1000)}`).text.isWellFormed()).toBe(true);
  });
});

describe('a reason about the client or the server takes precedence', () => {
  const reasons = [
    'your IP 192.0.2.25 is blacklisted',
    'client host [192.0.2.25] blocked',
    '192.0.2.25 is listed at zen.spamhaus.org',
    'SPF check failed for verify@probe.example.net',
    'DMARC policy',
    'sender address verification failed',
    'sender domain does not exist',
    'sender mailbox unavailable',
    'the sender could not be found',
    'no such sender',
    'unknown sender',
    'verify@probe.example.net: user unknown',
    'user verify@probe.example.net not found',
    'probe.example.net does not exist',
    'cannot find your hostname',
    'missing PTR record',
    'bad HELO',
    'poor reputation of your IP',
    'too many invalid recipients from your host',
    'spam detected',
    'rejected by local policy',
    'authentication required',
    'dial-up host',
    'open relay',
    'null sender not allowed',
    'not on the allow list',
    'members only',
    'probing for users is not allowed',
    'directory harvest attack from your host',
    'your certificate is not trusted',
    'Absender unbekannt',
    'expéditeur inconnu',
    'remetente inexistente',
    'mittente sconosciuto',
    'отправитель не существует',
    'ваш IP в чёрном списке',
    '发件人不存在',
    'IP地址被列入黑名单',
    '送信者が存在しません',
    'greylisted',
    'try again later',
    'temporary failure',
    'LDAP server down',
    'lookup timed out',
  ];
  it.each([
    '550 %',
    '550 5.1.0 %',
    '550 5.1.1 %',
    '550 5.1.1 <someone@example.com>: Recipient address rejected: %',
    '550 <someone@example.com>: Recipient address rejected: %',
    '550 5.1.1 Mailbox unavailable: %',
    '550 Requested action not taken: mailbox unavailable (%)',
    '550 User rejected: %',
    '550 Recipient refused because %',
    '550 5.2.1 %, recipient',
    '550 %; user someone@example.com rejected',
    '553 5.7.1 %, mailbox refuses',
  ])('%s', (around) => {
    expect(reasons.filter((reason) => BAD.includes(read(around.replace('%', () => reason)).finding))).toEqual([]);
  });
});

// A pattern with two unbounded repeats over the same letters would take seconds here and time out.
it('takes bounded time for a text that repeats one word, with and without spaces', () => {
  for (const word of [
    '用户',
    'ユーザ',
    '사용자',
    '邮箱',
    'адресат',
    'adresse',
    'konto',
    'adresse ',
    'user ',
    'sender ',
  ]) {
    expect(BAD).not.toContain(read(`450 ${word.repeat(1500 / word.length)}`).finding);
  }
});

const words = fc.constantFrom(
  'user',
  'unknown',
  'mailbox',
  'full',
  'blocked',
  'sender',
  'ip',
  'your',
  'relay',
  'denied',
  'not',
  'exist',
  'quota',
  'greylisted',
  'try again in 5 minutes',
  'does',
  'disabled',
  'domain',
  'policy',
  '<someone@example.com>',
  '192.0.2.25',
  'https://a.example/b',
  'inconnu',
  'не найден',
  '不存在',
  '5.1.1',
  ':',
  '(',
  'recipient',
  'address',
);
const stages: readonly SmtpStage[] = ['connect', 'banner', 'ehlo', 'starttls', 'mail', 'rset', 'rcpt', 'probe'];

it('for any text: a 4xx is never bad, a stage before RCPT is never about the mailbox, nothing throws', () => {
  const text = fc.oneof(
    fc.array(words, { maxLength: 12 }).map((parts) => parts.join(' ')),
    fc.string({ unit: 'binary', maxLength: 300 }),
  );
  const enhanced = fc.option(fc.constantFrom('1.1', '1.2', '2.1', '2.2', '7.1', '5.3', '4.1', '3.0', '7.999'));
  fc.assert(
    fc.property(
      fc.integer({ min: 200, max: 599 }),
      enhanced,
      text,
      fc.constantFrom(...stages),
      (code, detail, said, stage) => {
        const reply = { code, enhanced: detail === null ? null : `${String(code)[0]}.${detail}`, text: said };
        const { finding, meaning, retryAfterSeconds, rule } = classify({ stage, reply, operator: null, echoes });
        if (code < 500 || (stage !== 'rcpt' && stage !== 'probe')) expect(BAD).not.toContain(finding);
        if (stage !== 'rcpt' && stage !== 'probe') expect(meaning).not.toMatch(/^recipient/);
        if (code >= 300) expect(finding).not.toBe('accepted');
        if (retryAfterSeconds !== null) expect(retryAfterSeconds > 0 && retryAfterSeconds <= 86_400).toBe(true);
        expect(rule).not.toBe('');
      },
    ),
    { numRuns: 3000 },
  );
}, 120_000);
