import { describe, expect, it } from 'vitest';
import type { SmtpFinding } from '../evidence.ts';
import { Dialogue } from './dialogue.ts';
import type { Action, DialogueEvent, DialogueSetup } from './events.ts';
import type { Outcome, Question, Read, ReplyReading } from './outcome.ts';
import type { Reply } from './reply.ts';

const reply = (line: string, ...more: string[]): Reply => {
  const lines = [line, ...more].map((text) => text.slice(4));
  const enhanced = /^[245]\.\d+\.\d+/.exec(lines[0]!)?.[0] ?? null;
  return { code: Number(line.slice(0, 3)), enhanced, lines, text: lines.join(' '), mixed: false };
};
const read: Read = (stage, { code, text }) => {
  const finding = (f: ReplyReading['finding']): ReplyReading => ({
    meaning: 'test',
    finding: f,
    rule: f,
    retryAfter: null,
  });
  if (code < 300) return finding('accepted');
  if (/STARTTLS/.test(text)) return finding('starttls_required');
  if (/too many/.test(text)) return finding('reconnect');
  if (/blocked/.test(text)) return finding('smtp_blocked');
  if (code < 500) return finding('smtp_temporary_failure');
  return finding(stage === 'rcpt' || stage === 'probe' ? 'mailbox_not_found' : 'smtp_unverifiable');
};
const question = (path = 'jane@example.test', probe: string | null = 'probe@example.test'): Question => ({
  path,
  sender: 'verify@mailvet.test',
  stage: 'rcpt',
  probe: () => probe,
});

/** Feeds events and server lines (`250 ok`); gives what was sent and answered. */
function talk(setup: Partial<DialogueSetup> = {}) {
  const dialogue = new Dialogue({ helo: 'mailvet.test', read, tls: 'demanded', ...setup });
  const actions: Action[] = [];
  const feed = (event: DialogueEvent) => {
    actions.push(...dialogue.handle(event));
  };
  return {
    dialogue,
    actions,
    feed,
    ask: (q = question()) => feed({ is: 'ask', question: q }),
    hear: (...lines: string[]) => {
      for (const line of lines) feed({ is: 'replies', replies: [reply(line)] });
    },
    ehlo: (...keywords: string[]) =>
      feed({ is: 'replies', replies: [reply('250-mx', ...keywords.map((k) => `250 ${k}`))] }),
    get sent() {
      return actions.flatMap((a) => (a.do === 'send' ? [a.lines.join('|')] : []));
    },
    get outcomes(): Outcome[] {
      return actions.flatMap((a) => (a.do === 'answer' ? [a.outcome] : []));
    },
    get closed() {
      return actions.some((a) => a.do === 'close');
    },
  };
}

describe('dialogue', () => {
  it('asks the real address first and a random one only after it was accepted, then quits', () => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    expect(t.sent).toEqual([]);
    t.hear('220 mx');
    t.ehlo('SIZE 100');
    t.hear('250 ok', '250 ok', '550 5.1.1 no such user');
    t.feed({ is: 'finish' });
    t.hear('221 bye');
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

  it('sends MAIL and RCPT in one write where groups are taken, but never the probe with them', () => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.hear('220 mx');
    t.ehlo('PIPELINING');
    expect(t.sent[1]).toBe('MAIL FROM:<verify@mailvet.test>|RCPT TO:<jane@example.test>');
    t.feed({ is: 'replies', replies: [reply('250 ok'), reply('550 no')] });
    expect(t.sent).toHaveLength(2);
    expect(t.outcomes).toMatchObject([{ finding: 'mailbox_not_found', probe: null }]);
  });

  it('puts the next question after RSET in the same session', () => {
    const t = talk();
    t.ask(question('a@example.test', null));
    t.feed({ is: 'connected' });
    t.hear('220 mx');
    t.ehlo('PIPELINING');
    t.hear('250 ok', '250 ok');
    t.ask(question('b@example.test', null));
    expect(t.sent.at(-1)).toBe('RSET|MAIL FROM:<verify@mailvet.test>|RCPT TO:<b@example.test>');
    t.hear('250 ok', '250 ok', '550 no');
    expect(t.outcomes.map(({ finding }) => finding)).toEqual(['accepted', 'mailbox_not_found']);
  });

  it.each(['500 what', '502 no', '504 no', '550 no'])('says HELO when EHLO is refused with "%s"', (refusal) => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.hear('220 mx', refusal, '250 mx', '250 ok', '550 no such user');
    expect(t.sent.slice(0, 2)).toEqual(['EHLO mailvet.test', 'HELO mailvet.test']);
    expect(t.outcomes).toMatchObject([{ kind: 'answered', finding: 'mailbox_not_found' }]);
  });

  it('keeps the telling refusal when HELO is refused too', () => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.hear('220 mx', '550 you are blocked', '503 bad sequence');
    expect(t.outcomes).toMatchObject([{ kind: 'failed', finding: 'smtp_blocked', next: 'next_host' }]);
  });

  it('never lets a refusal before RCPT speak of the mailbox', () => {
    const lying: Read = () => ({ meaning: 'recipient', finding: 'mailbox_not_found', rule: 'x', retryAfter: null });
    for (const lines of [['554 no'], ['220 mx', '554 no'], ['220 mx', '250 mx', '550 user unknown']]) {
      const t = talk({ read: lying });
      t.ask();
      t.feed({ is: 'connected' });
      t.hear(...lines);
      expect(t.outcomes).toMatchObject([{ kind: 'failed', finding: 'smtp_blocked' }]);
    }
  });

  it('wraps the connection when that is demanded, waits for the rest of the group, and starts over', () => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.hear('220 mx');
    t.ehlo('PIPELINING', 'STARTTLS');
    t.hear('530 Must issue STARTTLS first');
    expect(t.sent).toHaveLength(2);
    t.hear('503 MAIL first');
    expect(t.sent[2]).toBe('STARTTLS');
    // What was injected in clear behind the reply is not believed (CVE-2011-0411).
    t.feed({ is: 'replies', replies: [reply('220 go'), reply('250 mx'), reply('250 ok'), reply('250 ok')] });
    expect(t.outcomes).toEqual([]);
    expect(t.sent).toHaveLength(3);
    t.feed({ is: 'secured' });
    t.ehlo('8BITMIME');
    t.hear('250 ok', '550 no');
    expect(t.sent.slice(3)).toEqual([
      'EHLO mailvet.test',
      'MAIL FROM:<verify@mailvet.test>',
      'RCPT TO:<jane@example.test>',
    ]);
    expect(t.dialogue.secure).toBe(true);
  });

  it('asks for a second try in clear after a failed handshake, without a word into it', () => {
    const t = talk({ tls: 'opportunistic' });
    t.ask();
    t.feed({ is: 'connected' });
    t.hear('220 mx');
    t.ehlo('STARTTLS');
    t.hear('220 go');
    t.feed({ is: 'tls_failed' });
    expect(t.outcomes).toMatchObject([{ kind: 'failed', next: 'in_clear' }]);
    expect(t.sent.at(-1)).toBe('STARTTLS');
    expect(t.closed).toBe(true);
  });

  it('probes anew in the session once, and in another session when that is refused as well', () => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.hear('220 mx');
    t.ehlo('PIPELINING');
    t.hear('250 ok', '250 ok', '452 too many');
    expect(t.sent.at(-1)).toBe('RSET|MAIL FROM:<verify@mailvet.test>|RCPT TO:<probe@example.test>');
    t.hear('250 ok', '250 ok', '452 too many');
    expect(t.outcomes).toMatchObject([{ finding: 'accepted', probe: { finding: 'reconnect' } }]);
  });

  it('keeps the accepted recipient when the probe is lost', () => {
    const endings: DialogueEvent[] = [{ is: 'timeout' }, { is: 'closed' }, { is: 'violation' }, { is: 'finish' }];
    for (const event of endings) {
      const t = talk();
      t.ask();
      t.feed({ is: 'connected' });
      t.hear('220 mx');
      t.ehlo();
      t.hear('250 ok', '250 ok');
      t.feed(event);
      const unknown: SmtpFinding[] = ['smtp_timeout', 'smtp_temporary_failure'];
      expect(t.outcomes).toMatchObject([{ kind: 'answered', finding: 'accepted' }]);
      expect(unknown).toContain(t.outcomes[0]?.kind === 'answered' ? t.outcomes[0].probe?.finding : null);
    }
  });

  it('takes replies that came before their command for what they are', () => {
    const t = talk();
    t.ask();
    t.feed({ is: 'connected' });
    t.hear('220 mx');
    t.feed({ is: 'replies', replies: [reply('250 mx'), reply('250 ok'), reply('250 ok'), reply('250 ok')] });
    expect(t.outcomes).toMatchObject([{ kind: 'failed', rule: 'dialogue.out_of_step' }]);
    expect(t.sent.at(-1)).toBe('QUIT');
  });

  it('asks elsewhere when a session that was idle has gone', () => {
    const t = talk();
    t.ask(question('a@example.test', null));
    t.feed({ is: 'connected' });
    t.hear('220 mx');
    t.ehlo();
    t.hear('250 ok', '250 ok');
    t.ask(question('b@example.test', null));
    t.feed({ is: 'closed' });
    expect(t.outcomes[1]).toMatchObject({ kind: 'failed', next: 'new_session' });
  });

  it('declares SMTPUTF8 for an address that needs it and gives up where it is not offered', () => {
    for (const [offered, expected] of [
      [['SMTPUTF8'], 'MAIL FROM:<verify@mailvet.test> SMTPUTF8'],
      [[], null],
    ] as const) {
      const t = talk();
      t.ask(question('пётр@example.test'));
      t.feed({ is: 'connected' });
      t.hear('220 mx');
      t.ehlo(...offered);
      expect(t.sent[1] ?? null).toBe(expected);
      if (expected === null) expect(t.outcomes).toMatchObject([{ finding: 'smtp_unverifiable', next: 'stop' }]);
    }
  });
});

/** Deterministic pseudo-random numbers (mulberry32), so that a failure can be repeated from its case number. */
function numbers(seed: number): (n: number) => number {
  let a = seed;
  return (n) => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

const CODES = [220, 250, 250, 250, 221, 354, 421, 450, 452, 500, 502, 530, 550, 554, 299, 599];
const TEXTS = ['ok', 'too many', 'blocked', 'Must issue STARTTLS', '', '\ufffd', 'x'.repeat(300)];
const KEYWORDS = ['PIPELINING', 'STARTTLS', 'SMTPUTF8', 'SIZE 1', '8BITMIME', 'AUTH=PLAIN', ''];

describe('dialogue, 100,000 random servers', () => {
  it('never throws, always ends, answers a question once, and after a violation says QUIT or nothing', () => {
    for (let seed = 0; seed < 100_000; seed++) {
      const random = numbers(seed);
      const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
      const anyReply = () => {
        const more = Array.from({ length: random(4) }, () => `250-${pick(KEYWORDS)}`);
        return reply(`${pick(CODES)} ${pick(TEXTS)}`, ...more);
      };
      const t = talk({ tls: pick(['never', 'demanded', 'opportunistic']) });
      let asked = 1;
      let sentBefore = -1;
      t.ask(question(pick(['a@x.test', 'é@x.test', '"a b"@x.test']), pick(['p@x.test', null])));
      t.feed({ is: 'connected' });
      for (let step = 0; step < 24; step++) {
        const roll = random(40);
        if (roll < 33) t.feed({ is: 'replies', replies: Array.from({ length: 1 + random(3) }, anyReply) });
        else if (roll < 34) t.feed({ is: 'timeout' });
        else if (roll < 36) t.feed({ is: 'secured' });
        else if (roll < 37) t.feed({ is: 'tls_failed' });
        else if (roll < 38) t.feed({ is: 'connected' });
        else if (roll < 39) {
          const before = t.sent.length;
          t.feed({ is: 'violation' });
          if (sentBefore === -1) sentBefore = before;
        } else t.feed({ is: 'finish' });
        if (t.outcomes.length === asked && t.dialogue.phase === 'idle' && random(2) === 0) {
          asked++;
          t.ask(question('b@x.test', pick(['p@x.test', null])));
        }
      }
      const { sent } = t;
      if (sentBefore !== -1 && sent.slice(sentBefore).some((line) => line !== 'QUIT')) throw new Error(`case ${seed}`);
      if (sent.join('|').includes('DATA')) throw new Error(`case ${seed}: DATA`);
      if (sent.filter((line) => line === 'QUIT').length > 1) throw new Error(`case ${seed}: QUIT twice`);
      for (let i = 0; i < 3; i++) t.feed({ is: 'timeout' });
      if (!t.closed || t.dialogue.phase !== 'closed') throw new Error(`case ${seed}: does not end`);
      if (t.outcomes.length !== asked)
        throw new Error(`case ${seed}: ${t.outcomes.length} answers to ${asked} questions`);
    }
  }, 120_000);
});
