import { describe, expect, it } from 'vitest';
import { question, reply, talk } from '../../../tests/lab/dialogue.ts';
import { type LearnedHost, NOTHING_LEARNED } from './learned-hosts.ts';

/** Deterministic pseudo-random numbers (mulberry32), so that a failure is reproducible from its case number. */
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
const SEVERAL = [1, 1, 1, 1, 1, 1, 2, 3];
const KEYWORDS = ['PIPELINING', 'STARTTLS', 'SMTPUTF8', 'SIZE 1', '8BITMIME', 'AUTH=PLAIN', ''];

const REPLIES = Array.from({ length: 2_000 }, (_, seed) => {
  const random = numbers(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const more = Array.from({ length: random(4) }, () => `250-${pick(KEYWORDS)}`);
  return reply(`${pick(CODES)} ${pick(TEXTS)}`, ...more);
});

const KIND = reply('250 ok', '250-PIPELINING', '250 STARTTLS');

describe('dialogue, 100,000 random servers', () => {
  it('never throws, always terminates, reports each check once, and after a violation sends at most QUIT', () => {
    const reached = new Map<string, number>();
    for (let seed = 0; seed < 100_000; seed++) {
      const random = numbers(seed);
      const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
      const known: LearnedHost = {
        ...NOTHING_LEARNED,
        pipelining: pick(['untried', 'works', 'broken']),
        tls: pick(['any', 'up_to_1_2']),
      };
      const t = talk({ tls: pick(['never', 'demanded', 'opportunistic']), known });
      // From random garbage to mostly valid replies, so that late stages are reached too.
      const kindness = random(4);
      let asked = 0;
      let sentBefore = -1;
      const ask = (path: string) => {
        const questions = Array.from({ length: pick([1, 1, 2, 5]) }, () => question(path, pick(['p@x.test', null])));
        asked += questions.length;
        t.ask(...questions);
        return questions;
      };
      let questions = ask(pick(['a@x.test', 'é@x.test', '"a b"@x.test']));
      t.feed({ is: 'connected' });
      for (let step = 0; step < 16; step++) {
        const roll = random(41);
        if (roll < 33)
          t.feed({
            is: 'replies',
            replies: Array.from({ length: pick(SEVERAL) }, () => (random(4) < kindness ? KIND : pick(REPLIES))),
          });
        else if (roll < 34) t.feed({ is: 'timeout' });
        else if (roll < 36) t.feed({ is: 'secured' });
        else if (roll < 37) t.feed({ is: 'tls_failed', isNoTls: random(2) === 0 });
        else if (roll < 38) t.feed({ is: 'connected' });
        else if (roll < 39) {
          const before = t.sent.length;
          t.feed({ is: 'violation' });
          if (sentBefore === -1) sentBefore = before;
        } else if (roll < 40) t.feed({ is: 'finish' });
        else t.feed({ is: 'abandon', question: pick(questions), why: pick(['cancelled', 'timeout']) });
        if (t.outcomes.length === asked && t.dialogue.phase === 'idle' && random(2) === 0) questions = ask('b@x.test');
      }
      const { sent } = t;
      if (sentBefore !== -1 && sent.slice(sentBefore).some((line) => line !== 'QUIT')) throw new Error(`case ${seed}`);
      if (sent.join('|').includes('DATA')) throw new Error(`case ${seed}: DATA`);
      if (sent.filter((line) => line === 'QUIT').length > 1) throw new Error(`case ${seed}: QUIT twice`);
      for (let i = 0; i < 3; i++) t.feed({ is: 'timeout' });
      if (!t.closed || t.dialogue.phase !== 'closed') throw new Error(`case ${seed}: does not end`);
      if (t.outcomes.length !== asked)
        throw new Error(`case ${seed}: ${t.outcomes.length} answers to ${asked} questions`);
      for (const outcome of t.outcomes) {
        const name = outcome.kind === 'failed' ? outcome.next : outcome.probe === null ? 'answered' : 'probed';
        reached.set(name, (reached.get(name) ?? 0) + 1);
      }
    }
    for (const name of [
      'answered',
      'probed',
      'next_address',
      'next_host',
      'without_pipelining',
      'tls_1_2',
      'in_clear',
      'new_session',
      'rejoin',
      'stop',
    ]) {
      expect(reached.get(name), name).toBeGreaterThan(100);
    }
  }, 120_000);
});
