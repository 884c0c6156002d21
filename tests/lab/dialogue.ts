/** The dialogue state machine without socket and clock. */
import {
  type ClassifyReply,
  Dialogue,
  type DialogueEvent,
  type DialogueOutcome,
  type DialogueSetup,
  type RecipientQuestion,
  type ReplyReading,
} from '../../src/engine/smtp/dialogue.ts';
import { NOTHING_LEARNED } from '../../src/engine/smtp/learned-hosts.ts';
import type { SmtpReply } from '../../src/engine/smtp/reply.ts';

/** A reply from its lines, codes and separators included. */
export const reply = (line: string, ...more: string[]): SmtpReply => {
  const lines = [line, ...more].map((text) => text.slice(4));
  const enhanced = /^[245]\.\d+\.\d+/.exec(lines[0]!)?.[0] ?? null;
  return { code: Number(line.slice(0, 3)), enhanced, lines, texts: lines, text: lines.join(' '), mixed: false };
};
/** A minimal classifier. */
const read: ClassifyReply = (stage, { code, text }) => {
  const finding = (f: ReplyReading['finding']): ReplyReading => ({
    meaning: 'test',
    finding: f,
    rule: f,
    retryAfterSeconds: null,
    readBy: 'rule',
    probability: null,
  });
  if (code < 300) return finding('accepted');
  if (/STARTTLS/.test(text)) return finding('starttls_required');
  if (/too many/.test(text)) return finding('reconnect');
  if (/blocked/.test(text)) return finding('smtp_blocked');
  if (code < 500) return finding('smtp_temporary_failure');
  return finding(stage === 'rcpt' || stage === 'probe' ? 'mailbox_not_found' : 'smtp_unverifiable');
};
export const question = (
  path = 'jane@example.test',
  probe: string | null = 'probe@example.test',
): RecipientQuestion => ({
  path,
  sender: 'verify@mailvet.test',
  stage: 'rcpt',
  probe: () => probe,
});

/** Feeds events and server lines (`250 ok`); returns what was sent and answered. */
export function talk(setup: Partial<DialogueSetup> = {}) {
  const dialogue = new Dialogue({
    host: 'mx.test',
    known: NOTHING_LEARNED,
    helo: 'mailvet.test',
    read,
    tls: 'demanded',
    ...setup,
  });
  const sent: string[] = [];
  const outcomes: DialogueOutcome[] = [];
  let closed = false;
  const feed = (event: DialogueEvent) => {
    for (const action of dialogue.handle(event)) {
      if (action.do === 'send') sent.push(action.commands.map(({ line }) => line).join('|'));
      else if (action.do === 'answer') outcomes.push(action.outcome);
      else if (action.do === 'close') closed = true;
    }
  };
  return {
    dialogue,
    sent,
    outcomes,
    feed,
    ask: (...questions: RecipientQuestion[]) =>
      feed({ is: 'ask', questions: questions.length > 0 ? questions : [question()] }),
    receive: (...lines: string[]) => {
      for (const line of lines) feed({ is: 'replies', replies: [reply(line)] });
    },
    ehlo: (...keywords: string[]) =>
      feed({ is: 'replies', replies: [reply('250-mx', ...keywords.map((k) => `250 ${k}`))] }),
    get closed() {
      return closed;
    },
  };
}
