import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dataFile } from '../data-files.ts';
import type { SmtpStage } from '../evidence.ts';
import { agrees, evaluate, isFalsePositive, type LabelledReply } from './classify/evaluation.ts';
import { DECISIONS, RULES } from './classify/rules.ts';
import { createClassifier, type RuleReading } from './classify.ts';
import { ReplyParser } from './reply.ts';

const json = <T>(name: string): T => JSON.parse(readFileSync(dataFile(name), 'utf8')) as T;
const classifier = createClassifier();
const { classify } = classifier;
const echoes = {
  address: 'someone@example.com',
  ourNames: ['probe.example.net', 'verify@probe.example.net'],
  ourIps: ['192.0.2.25'],
};
const BAD = ['mailbox_not_found', 'mailbox_full', 'mailbox_disabled', 'relay_denied'];

/** `"550 5.1.1 text"` read at RCPT. */
function read(line: string, more: { stage?: SmtpStage; operator?: string; address?: string } = {}): RuleReading {
  const [, code, enhanced, text] = /^(\d{3}) (?:([245]\.\d+\.\d+) )?(.*)$/s.exec(line)!;
  return classify({
    stage: more.stage ?? 'rcpt',
    reply: { code: Number(code), enhanced: enhanced ?? null, text: text ?? '' },
    operator: more.operator ?? null,
    echoes: { ...echoes, address: more.address ?? echoes.address },
  });
}

describe('facts', () => {
  it.each([
    // Exchange and Outlook
    ['550 5.4.1 Recipient address rejected: Access denied. AS(201806281)', 'mailbox_not_found', 'recipient'],
    ['554 5.7.1 <someone@example.com>: Recipient address rejected: Access denied', 'smtp_blocked', 'us_policy'],
    ['550 5.7.606 Access denied, banned sending IP [192.0.2.25]', 'smtp_blocked', 'us_ip'],
    ['550 5.7.649 Something new', 'smtp_blocked', 'us_ip'],
    ['550 5.5.0 Requested action not taken: mailbox unavailable.', 'mailbox_not_found', 'recipient'],
    ['550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required', 'smtp_blocked', 'us_policy'],
    ['550 5.7.64 TenantAttribution; Relay Access Denied', 'relay_denied', 'recipient_domain'],
    ['550 5.7.1 Unable to relay', 'relay_denied', 'recipient_domain'],
    // Gmail
    ['550 5.1.1 The email account that you tried to reach does not exist.', 'mailbox_not_found', 'recipient'],
    ['552 5.2.2 The email account that you tried to reach is over quota.', 'mailbox_full', 'recipient'],
    ['452 4.2.2 The email account that you tried to reach is over quota.', 'mailbox_full_temporarily', 'recipient'],
    ['550 5.2.1 The email account that you tried to reach is disabled.', 'mailbox_disabled', 'recipient'],
    ['450 4.2.1 The user you are trying to contact is receiving mail at a rate that', 'smtp_temporary_failure', 'rate'],
    // Yahoo, GMX
    ["554 delivery error: dd This user doesn't have a yahoo.com account", 'mailbox_not_found', 'recipient'],
    ['550 Requested action not taken: mailbox unavailable', 'mailbox_not_found', 'recipient'],
    ['550 mailbox unavailable For explanation visit http://gmx.com/e?ip=1.2.3.4', 'smtp_blocked', 'us_policy'],
    ['550 Requested action not taken: mailbox unavailable Reject due to policy', 'smtp_blocked', 'us_policy'],
    // whose address
    ['550 5.1.1 User unknown; rejecting', 'mailbox_not_found', 'recipient'],
    ['550 5.1.1 Sender rejected', 'smtp_blocked', 'us_sender'],
    ['550 5.1.0 <verify@probe.example.net> sender rejected', 'smtp_blocked', 'us_sender'],
    ['550 5.1.0 Address rejected', 'mailbox_not_found', 'recipient'],
    [
      '550-Verification failed for <verify@probe.example.net> No such user Sender verify failed'.replace('-', ' '),
      'smtp_blocked',
      'us_sender',
    ],
    ['550 5.7.1 <verify@probe.example.net>: user unknown', 'smtp_blocked', 'us_sender'],
    ['550 Recipient not authorized, your IP has been found on a block list', 'smtp_blocked', 'us_ip'],
    ['550 5.7.1 No such user', 'mailbox_not_found', 'recipient'],
    ['550 5.7.1 not in recipient list', 'mailbox_not_found', 'recipient'],
    ['550 5.7.1 account inactive', 'mailbox_disabled', 'recipient'],
    ['550 5.7.1 Rejected', 'smtp_blocked', 'us_policy'],
    // relaying
    ['554 5.7.1 <someone@example.com>: Relay access denied', 'relay_denied', 'recipient_domain'],
    ['550 5.7.1 Relaying denied. Proper authentication required.', 'smtp_blocked', 'us_policy'],
    ['550 5.7.1 <someone@example.com> Relaying not allowed', 'relay_denied', 'recipient_domain'],
    ['550 You are not allowed to relay', 'relay_denied', 'recipient_domain'],
    ['554 We are not an open relay', 'relay_denied', 'recipient_domain'],
    ['550 Sending from a relay not allowed', 'smtp_blocked', 'us_ip'],
    // temporary
    ['450 4.1.1 User unknown', 'smtp_temporary_failure', 'recipient'],
    ['454 4.7.1 Relay access denied', 'smtp_temporary_failure', 'recipient_domain'],
    ['452 4.5.3 Too many recipients', 'reconnect', 'too_many_recipients'],
    ['530 5.7.0 Must issue a STARTTLS command first', 'starttls_required', 'tls_required'],
    // accepted
    ['250 ok', 'accepted', 'accepted'],
    ['251 will forward', 'accepted', 'accepted'],
    ['252 cannot verify, will try', 'accepted', 'accepted'],
    // nothing
    ['550 hmm', 'smtp_unverifiable', 'unclear'],
    ['450 hmm', 'smtp_temporary_failure', 'remote_temporary'],
    ['354 go ahead', 'smtp_unverifiable', 'unclear'],
  ])('%s', (line, finding, meaning) => {
    expect(read(line)).toMatchObject({ finding, meaning });
  });

  it('an announced delay is parsed; a permanent rejection has none', () => {
    expect(read('450 4.7.1 Greylisted, try again in 5 minutes')).toMatchObject({
      finding: 'greylisted',
      retryAfterSeconds: 300,
    });
    expect(read('450 4.2.0 Greylisting in action, please come back in 00:04:59').retryAfterSeconds).toBe(299);
    expect(read('550 5.1.1 User unknown, try again in 5 minutes').retryAfterSeconds).toBeNull();
  });

  it('a reply whose lines accept and refuse, or refuse for good and for now, decides nothing but a 4xx', () => {
    const found = (wire: string) => {
      const [reply] = new ReplyParser().push(Buffer.from(wire));
      return classify({ stage: 'rcpt', reply: reply!, operator: null, echoes }).finding;
    };
    expect(found('550-User unknown\r\n250 ok\r\n')).toBe('smtp_unverifiable');
    expect(found('250-ok\r\n550 5.1.1 User unknown\r\n')).toBe('smtp_unverifiable');
    expect(found('450-4.2.1 busy\r\n550 5.1.1 User unknown\r\n')).toBe('smtp_unverifiable');
    expect(found('550-User unknown\r\n450 4.2.1 busy\r\n')).toBe('smtp_temporary_failure');
    expect(found('553-User\r\n550 5.1.1 unknown\r\n')).toBe('mailbox_not_found');
  });

  it('Barracuda quotes the reply of the server behind it', () => {
    const quoting = (reply: string) =>
      read(`550 permanent failure for one or more recipients (someone@example.com:${reply})`, {
        operator: 'barracuda',
      });
    expect(quoting('blocked').finding).toBe('smtp_blocked');
    expect(quoting('550 5.1.1 <someone@example.com>... User unknown').finding).toBe('mailbox_not_found');
    expect(quoting('552 5.2.2 Mailbox full').finding).toBe('mailbox_full');
    expect(quoting('554 5.7.1 Client host rejected').finding).toBe('smtp_blocked');
  });

  it('before RCPT the same text is about us', () => {
    expect(read('550 5.1.1 User unknown', { stage: 'mail' })).toMatchObject({
      finding: 'smtp_blocked',
      meaning: 'us_policy',
    });
    expect(read('554 No SMTP service here', { stage: 'banner' }).finding).toBe('smtp_blocked');
    expect(read('421 4.7.0 try later', { stage: 'ehlo' }).finding).toBe('smtp_temporary_failure');
  });

  it('an enhanced code in the text counts in qmail style, an IP address does not', () => {
    expect(read('550 sorry, no recipient (#5.1.1)').rule).toBe('recipient.unknown');
    expect(read('550 recipient rejected (#5.1.1)').rule).toBe('code.no-mailbox');
    expect(read('550 sorry (#4.1.1)').rule).toBe('unmatched.5xx');
    expect(read('550 see 15.1.1.7').rule).not.toBe('code.no-mailbox');
  });
});

describe('rules', () => {
  it('a rule that makes an address bad is about the recipient, one about us never does', () => {
    for (const [id, { meaning, finding }] of Object.entries(RULES)) {
      if (BAD.includes(finding)) expect(meaning, id).toMatch(/^recipient/);
      if (meaning.startsWith('us_')) expect(finding, id).toBe('smtp_blocked');
    }
  });

  it('only an absent, disabled, full or unserved recipient or domain is bad', () => {
    for (const [predicate, row] of Object.entries(DECISIONS)) {
      for (const [subject, rule] of Object.entries(row)) {
        if (rule === null || !BAD.includes(RULES[rule].finding)) continue;
        expect(['absent', 'disabled', 'full', 'unavailable', 'not_hosted', 'relay']).toContain(predicate);
        if (predicate === 'absent' || predicate === 'disabled')
          expect(['recipient', 'domain', 'group']).toContain(subject);
      }
    }
  });

  it('knows which are about our IP address', () => {
    expect(classifier.isAboutOurIp('us.blocklist')).toBe(true);
    expect(classifier.isAboutOurIp('microsoft.banned-ip')).toBe(true);
    expect(classifier.isAboutOurIp('recipient.unknown')).toBe(false);
    expect(classifier.isAboutOurIp('toString')).toBe(false);
  });
});

describe('an explanation', () => {
  const explain = (text: string, code = 550, enhanced: string | null = null) =>
    classifier.explain({ stage: 'rcpt', reply: { code, enhanced, text }, operator: null, echoes });

  it('has the clauses, what each leads to, the code and the other readings', () => {
    const found = explain('<someone@example.com>: Recipient address rejected: User unknown', 550, '5.7.1');
    expect(found.reading).toMatchObject({ rule: 'recipient.unknown', confidence: 'high' });
    expect(found.clauses.map(({ clause: { subject, predicate }, rule }) => [subject, predicate, rule])).toEqual([
      ['recipient', 'refused', 'us.recipient-rejected'],
      ['recipient', 'absent', 'recipient.unknown'],
    ]);
    expect(found.enhanced).toEqual({ code: '5.7.1', rule: 'code.policy' });
    expect(found.alternatives.map(({ rule }) => rule)).toEqual(['code.policy', 'us.recipient-rejected']);
    expect(found.plain).toBe('_rcpt recipient address rejected user unknown');
  });

  it('agrees with the classification', () => {
    for (const text of ['ok', 'User unknown', 'mailbox unavailable', 'Your IP is on a blacklist', 'hm', '']) {
      for (const code of [250, 354, 450, 550]) {
        const reply = { code, enhanced: null, text };
        expect(explain(text, code).reading).toEqual(classify({ stage: 'rcpt', reply, operator: null, echoes }));
      }
    }
  });

  it('weak evidence is of low confidence', () => {
    expect(read('550 5.1.1 User unknown').confidence).toBe('high');
    expect(read('550 mailbox unavailable').confidence).toBe('low');
    expect(read('550 hm').confidence).toBe('low');
  });
});

describe('labelled replies', () => {
  const labelled = evaluate(classifier, json<LabelledReply[]>('sources/smtp-replies.json'));
  const forms = evaluate(classifier, json<{ rows: LabelledReply[] }>('sources/smtp-reply-forms.json').rows);
  const written = evaluate(classifier, json<{ rows: LabelledReply[] }>('sources/smtp-replies-written.json').rows);

  it('no observed reply about the client or the server is classified as a dead mailbox', () => {
    expect(labelled.filter(isFalsePositive)).toEqual([]);
    expect([...forms, ...written].filter(isFalsePositive).length).toBeLessThanOrEqual(1);
  });

  it('recall of permanent "no such mailbox" replies is at least 96%', () => {
    const gone = labelled.filter(({ reply }) => reply.label === 'mailbox_not_found' && reply.code >= 500);
    expect(gone.length).toBeGreaterThan(170);
    expect(gone.filter(({ reading }) => BAD.includes(reading.finding)).length / gone.length).toBeGreaterThan(0.96);
  });

  it('overall agreement is at least 96%', () => {
    for (const set of [labelled, forms, written]) {
      expect(set.filter(agrees).length / set.length).toBeGreaterThanOrEqual(0.96);
    }
  });
});

describe('a long reply', () => {
  it('is read as far as it may decide, in whatever lines it comes', () => {
    // Patterns that look for the end of all that came before, for each line anew, take minutes for it.
    const texts = ['User unknown.', ...Array.from({ length: 4_000 }, () => `${'a'.repeat(2_000)}!`)];
    const reply = { code: 550, enhanced: '5.1.1', text: texts.join(' '), texts };
    expect(classify({ stage: 'rcpt', reply, operator: null, echoes }).finding).toBe('mailbox_not_found');
  });
});
