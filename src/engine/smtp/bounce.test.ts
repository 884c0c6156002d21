import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MAIL_OUTCOMES, OUTCOME_CLASSES, type OutcomeClass } from '../../kernel/facts/sent-mail.ts';
import { parseDiagnostic, readOutcome } from './bounce.ts';
import { createClassifier } from './classify.ts';

const classifier = createClassifier();
const ADDRESS = 'ada@example.com';
const classOf = (diagnostic: string | null, operator: string | null = null): OutcomeClass =>
  readOutcome(classifier, { outcome: 'bounced', diagnostic, address: ADDRESS }, () => operator).class;

/** As servers and logs write them. */
const SAID: readonly (readonly [OutcomeClass, string])[] = [
  ['absent', '550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown in virtual mailbox table'],
  ['absent', 'smtp; 550-5.1.1 The email account that you tried to reach does not exist. 550 5.1.1 Please try again'],
  ['absent', 'smtp;550 5.1.1 RESOLVER.ADR.RecipNotFound; not found'],
  ['absent', '5.1.1 (bad destination mailbox address)'],
  [
    'absent',
    'host mx1.example.com[192.0.2.25] said: 550 5.1.1 <ada@example.com>: User unknown (in reply to RCPT TO command)',
  ],
  ['absent', 'SMTP error from remote mail server after RCPT TO:<ada@example.com>: 550 No such user here'],
  ['absent', 'Remote host said: 550 sorry, no mailbox here by that name (#5.1.1)'],
  ['absent', 'Sorry, no mailbox here by that name. (#5.1.1)'],
  ['absent', '550 5.1.1 Пользователь не найден'],
  ['disabled', '550 5.2.1 The email account that you tried to reach is disabled'],
  ['full', '552 5.2.2 <ada@example.com>: Quota exceeded (mailbox for user is full)'],
  // Given up after days of "for now".
  ['full', 'host mx.example.com[192.0.2.1] said: 452 4.2.2 Mailbox full (in reply to RCPT TO command)'],
  ['full', 'host mx.example.com[192.0.2.1] said: 552 5.2.2 Mailbox full (in reply to end of DATA command)'],
  ['sender', '554 5.7.1 Service unavailable; Client host [192.0.2.9] blocked using zen.spamhaus.org'],
  ['sender', '550 5.7.1 Message rejected as spam by content filtering'],
  ['sender', '550 5.7.26 This mail is unauthenticated, which poses a security risk'],
  ['sender', '421 4.7.0 Our system has detected an unusual rate of unsolicited mail originating from your IP address'],
  // Before the first recipient, whatever the words are.
  ['sender', '550 5.1.1 User unknown (in reply to MAIL FROM command)'],
  ['domain', '550 5.7.1 <ada@example.com>: Relay access denied'],
  ['unclear', '550 quux garply'],
  ['unclear', 'quux garply'],
  ['unclear', 'Delivery time expired'],
  ['unclear', '4.4.7 (delivery time expired)'],
  ['unclear', '250 2.0.0 OK'],
  ['unclear', ''],
];

it.each(SAID)('%s: %s', (expected, diagnostic) => {
  expect(classOf(diagnostic)).toBe(expected);
});

it('takes no diagnostic for an unclear bounce', () => {
  expect(classOf(null)).toBe('unclear');
});

it('finds reply, stage and host', () => {
  expect(
    parseDiagnostic('host mx1.example.com[192.0.2.25] said: 550-5.1.1 One 550 5.1.1 two (in reply to RCPT TO command)'),
  ).toMatchObject({
    reply: { code: 550, enhanced: '5.1.1', texts: ['One', 'two'] },
    hasCode: true,
    stage: 'rcpt',
    host: 'mx1.example.com',
  });
  expect(parseDiagnostic('421 4.4.2 Timeout (in reply to end of DATA command)')).toMatchObject({ stage: 'data' });
  expect(parseDiagnostic('>>> MAIL From:<x@y.example> <<< 250 ok >>> RCPT To:<a@b.example> <<< 550 no')).toMatchObject({
    stage: 'rcpt',
  });
});

it('knows the forms of an operator by the host that is named', () => {
  const hosts: string[] = [];
  const said = 'host MX.Example.com[192.0.2.1] said: 550 5.4.1 Recipient address rejected: Access denied';
  readOutcome(classifier, { outcome: 'bounced', diagnostic: said, address: ADDRESS }, (host) => {
    hosts.push(host);
    return null;
  });
  expect(hosts).toEqual(['mx.example.com']);
});

it('reads only bounces', () => {
  for (const outcome of MAIL_OUTCOMES.filter((one) => one !== 'bounced')) {
    const said = { outcome, diagnostic: '550 5.1.1 User unknown', address: ADDRESS };
    expect(readOutcome(classifier, said, () => null)).toEqual({ class: outcome, diagnostic: null, reading: null });
  }
});

it('reads whatever it gets', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '550 5.1.1',
      '550-',
      'said: ',
      '\r\n',
      '(in reply to',
      ' command)',
      'host a.example',
      '5.2.2',
      '>>> ',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      expect(OUTCOME_CLASSES).toContain(classOf(pieces.join('')));
    }),
  );
});
