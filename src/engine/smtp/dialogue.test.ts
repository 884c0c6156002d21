import { describe, expect, it } from 'vitest';
import { question, reply, talk } from '../../../tests/lab/dialogue.ts';
import type { SmtpFinding } from '../evidence.ts';
import type { ClassifyReply, DialogueEvent } from './dialogue.ts';
import { NOTHING_LEARNED } from './learned-hosts.ts';

describe('dialogue', () => {
  it('tries the real address first, a random one only after acceptance, then quits', () => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    expect(t.sent).toEqual([]);
    t.receive('220 mx');
    t.ehlo('SIZE 100');
    t.receive('250 ok', '250 ok', '550 5.1.1 no such user');
    t.feed({ is: 'finish' });
    t.receive('221 bye');
    expect(t.sent).toEqual([
      'EHLO mailvet.test',
      'MAIL FROM:<verify@mailvet.test>',
      'RCPT TO:<jane@example.test>',
      'RCPT TO:<probe@example.test>',
      'QUIT',
    ]);
    expect(t.outcomes).toMatchObject([{ finding: 'accepted', probe: { finding: 'mailbox_not_found' } }]);
    expect(t.closed).toBe(true);
  });

  it('pipelines MAIL and RCPT if supported, but never the probe with them', () => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.receive('220 mx');
    t.ehlo('PIPELINING');
    expect(t.sent[1]).toBe('MAIL FROM:<verify@mailvet.test>|RCPT TO:<jane@example.test>');
    t.feed({ is: 'replies', replies: [reply('250 ok'), reply('550 no')] });
    expect(t.sent).toHaveLength(2);
    expect(t.outcomes).toMatchObject([{ finding: 'mailbox_not_found', probe: null }]);
  });

  it('runs the next check after RSET in the same session', () => {
    const t = talk({ known: { ...NOTHING_LEARNED, pipelining: 'works' } });
    t.ask(question('a@example.test', null));
    t.feed({ is: 'connected' });
    t.receive('220 mx');
    t.ehlo('PIPELINING');
    t.receive('250 ok', '250 ok');
    t.ask(question('b@example.test', null));
    expect(t.sent.at(-1)).toBe('RSET|MAIL FROM:<verify@mailvet.test>|RCPT TO:<b@example.test>');
    t.receive('250 ok', '250 ok', '550 no');
    expect(t.outcomes.map(({ finding }) => finding)).toEqual(['accepted', 'mailbox_not_found']);
  });

  it.each(['500 what', '502 no', '504 no', '550 no'])('sends HELO when EHLO is rejected with "%s"', (refusal) => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.receive('220 mx', refusal, '250 mx', '250 ok', '550 no such user');
    expect(t.sent.slice(0, 2)).toEqual(['EHLO mailvet.test', 'HELO mailvet.test']);
    expect(t.outcomes).toMatchObject([{ kind: 'answered', finding: 'mailbox_not_found' }]);
  });

  it('keeps the more informative rejection when HELO is rejected too', () => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.receive('220 mx', '550 you are blocked', '503 bad sequence');
    expect(t.outcomes).toMatchObject([{ kind: 'failed', finding: 'smtp_blocked', next: 'next_host' }]);
  });

  it('never applies a rejection before RCPT to the mailbox', () => {
    const lying: ClassifyReply = () => ({
      meaning: 'recipient',
      finding: 'mailbox_not_found',
      rule: 'x',
      retryAfterSeconds: null,
      readBy: 'rule',
      probability: null,
    });
    for (const lines of [['554 no'], ['220 mx', '554 no'], ['220 mx', '250 mx', '550 user unknown']]) {
      const t = talk({ read: lying });
      t.ask();
      t.feed({ is: 'connected' });
      t.receive(...lines);
      expect(t.outcomes).toMatchObject([{ kind: 'failed', finding: 'smtp_blocked' }]);
    }
  });

  it('starts TLS when required, waits for the rest of the group, and starts over', () => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.receive('220 mx');
    t.ehlo('PIPELINING', 'STARTTLS');
    t.receive('530 Must issue STARTTLS first');
    expect(t.sent).toHaveLength(2);
    t.receive('503 MAIL first');
    expect(t.sent[2]).toBe('STARTTLS');
    // Data injected in clear text after the reply is discarded (CVE-2011-0411).
    t.feed({ is: 'replies', replies: [reply('220 go'), reply('250 mx'), reply('250 ok'), reply('250 ok')] });
    expect(t.outcomes).toEqual([]);
    expect(t.sent).toHaveLength(3);
    t.feed({ is: 'secured' });
    t.ehlo('8BITMIME');
    t.receive('250 ok', '550 no');
    expect(t.sent.slice(3)).toEqual([
      'EHLO mailvet.test',
      'MAIL FROM:<verify@mailvet.test>',
      'RCPT TO:<jane@example.test>',
    ]);
    expect(t.dialogue.secure).toBe(true);
  });

  it.each([
    ['any', { is: 'tls_failed', isNoTls: false }, 'tls_1_2'],
    ['any', { is: 'closed' }, 'tls_1_2'],
    ['any', { is: 'tls_failed', isNoTls: true }, 'in_clear'],
    ['any', { is: 'timeout' }, 'in_clear'],
    ['up_to_1_2', { is: 'tls_failed', isNoTls: false }, 'in_clear'],
    ['up_to_1_2', { is: 'closed' }, 'in_clear'],
  ] as const)('after a handshake with TLS %s that ended by %j, sends nothing into it, and then: %s', (tls, event, next) => {
    const t = talk({ tls: 'opportunistic', known: { ...NOTHING_LEARNED, tls } });
    t.ask();
    t.feed({ is: 'connected' });
    t.receive('220 mx');
    t.ehlo('STARTTLS');
    t.receive('220 go');
    t.feed(event);
    expect(t.outcomes).toMatchObject([{ kind: 'failed', next }]);
    expect(t.sent.at(-1)).toBe('STARTTLS');
    expect(t.closed).toBe(true);
  });

  it.each([
    ['250 flushed', [{ kind: 'answered', finding: 'accepted', probe: { finding: 'mailbox_not_found' } }]],
    ['550 no such user', [{ kind: 'failed', rule: 'dialogue.out_of_step', next: 'without_pipelining' }]],
  ])('keeps answers in which MAIL and RCPT are alike until RSET is answered: %s', (line, outcomes) => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.receive('220 mx');
    t.ehlo('PIPELINING');
    t.receive('250 ok', '250 ok', '550 no such user');
    expect(t.outcomes).toEqual([]);
    expect(t.sent.at(-1)).toBe('RSET');
    t.receive(line);
    expect(t.outcomes).toMatchObject(outcomes);
  });

  it('gives kept answers when the connection ends, or nobody waits for the proof', () => {
    const asked = question();
    for (const event of [
      { is: 'closed' },
      { is: 'timeout' },
      { is: 'abandon', question: asked, why: 'cancelled' },
    ] as const) {
      const t = talk();
      t.ask(asked);
      t.feed({ is: 'connected' });
      t.receive('220 mx');
      t.ehlo('PIPELINING');
      t.receive('250 ok', '250 ok', '550 no such user');
      t.feed(event);
      expect(t.outcomes).toMatchObject([{ kind: 'answered', finding: 'accepted' }]);
    }
  });

  it('repeats the probe once in the session, then in another session', () => {
    const t = talk({ known: { ...NOTHING_LEARNED, pipelining: 'works' } });
    t.ask();
    t.feed({ is: 'connected' });
    t.receive('220 mx');
    t.ehlo('PIPELINING');
    t.receive('250 ok', '250 ok', '452 too many');
    expect(t.sent.at(-1)).toBe('RSET|MAIL FROM:<verify@mailvet.test>|RCPT TO:<probe@example.test>');
    t.receive('250 ok', '250 ok', '452 too many');
    expect(t.outcomes).toMatchObject([{ finding: 'accepted', probe: { finding: 'reconnect' } }]);
  });

  it('keeps the accepted recipient when the probe is lost', () => {
    const endings: DialogueEvent[] = [{ is: 'timeout' }, { is: 'closed' }, { is: 'violation' }, { is: 'finish' }];
    for (const event of endings) {
      const t = talk();
      t.ask();
      t.feed({ is: 'connected' });
      t.receive('220 mx');
      t.ehlo();
      t.receive('250 ok', '250 ok');
      t.feed(event);
      const unknown: SmtpFinding[] = ['smtp_timeout', 'smtp_temporary_failure'];
      expect(t.outcomes).toMatchObject([{ kind: 'answered', finding: 'accepted' }]);
      expect(unknown).toContain(t.outcomes[0]?.kind === 'answered' ? t.outcomes[0].probe?.finding : null);
    }
  });

  it('detects replies that precede their command', () => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.receive('220 mx');
    t.feed({ is: 'replies', replies: [reply('250 mx'), reply('250 ok'), reply('250 ok'), reply('250 ok')] });
    expect(t.outcomes).toMatchObject([{ kind: 'failed', rule: 'dialogue.out_of_step' }]);
    expect(t.sent.at(-1)).toBe('QUIT');
  });

  it('detects by their addresses that replies are taken for those of later commands', () => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.receive('220 mx');
    t.ehlo('PIPELINING');
    // The second one is the first one again, not that of RCPT.
    t.receive('250 2.1.0 ok', '250 2.1.0 ok');
    t.receive('550 5.1.1 <Jane@example.test>: User unknown');
    expect(t.outcomes).toMatchObject([{ kind: 'failed', rule: 'dialogue.out_of_step', next: 'without_pipelining' }]);

    const two = talk();
    two.ask(question('jane@example.test', null), question('ann@example.test', null));
    two.feed({ is: 'connected' });
    two.receive('220 mx');
    two.ehlo('PIPELINING');
    two.receive('250 2.1.0 ok', '250 2.1.0 ok', '550 5.1.1 <jane@example.test>: User unknown');
    expect(two.outcomes).toMatchObject([
      { kind: 'failed', rule: 'dialogue.out_of_step', next: 'without_pipelining' },
      { kind: 'failed', next: 'rejoin' },
    ]);
  });

  it('retries in a new session when an idle one was closed', () => {
    const t = talk();
    t.ask(question('a@example.test', null));
    t.feed({ is: 'connected' });
    t.receive('220 mx');
    t.ehlo();
    t.receive('250 ok', '250 ok');
    t.ask(question('b@example.test', null));
    t.feed({ is: 'closed' });
    expect(t.outcomes[1]).toMatchObject({ kind: 'failed', next: 'new_session' });
  });

  it('uses SMTPUTF8 for an address that needs it and ends if it is not offered', () => {
    for (const [offered, expected] of [
      [['SMTPUTF8'], 'MAIL FROM:<verify@mailvet.test> SMTPUTF8'],
      [[], null],
    ] as const) {
      const t = talk();
      t.ask(question('пётр@example.test'));
      t.feed({ is: 'connected' });
      t.receive('220 mx');
      t.ehlo(...offered);
      expect(t.sent[1] ?? null).toBe(expected);
      if (expected === null) expect(t.outcomes).toMatchObject([{ finding: 'smtp_unverifiable', next: 'stop' }]);
    }
  });
});
