import { describe, expect, it } from 'vitest';
import { HOUR_MS, systemClock } from '../../kernel/clock.ts';
import { LearnedHosts, NOTHING_LEARNED } from './learned-hosts.ts';

function learnedHosts() {
  let now = 1_000;
  const learned = new LearnedHosts({ ...systemClock, elapsed: () => now });
  return { learned, wait: (ms: number) => (now += ms) };
}
const at = (address: string) => ({ egress: 'default', address });

describe('what is learned about a mail host', () => {
  it('holds for an hour, for its address alone', () => {
    const { learned, wait } = learnedHosts();
    learned.learn(at('192.0.2.1'), { pipelining: 'broken' });
    learned.learn(at('192.0.2.1'), { tls: 'up_to_1_2' });
    wait(HOUR_MS - 1);
    const known = { pipelining: 'broken', tls: 'up_to_1_2', refusesUs: false };
    expect(learned.of(at('192.0.2.1'))).toEqual(known);
    expect(learned.of(at('192.0.2.2'))).toEqual(NOTHING_LEARNED);
    // The same again does not prolong it.
    learned.learn(at('192.0.2.1'), { pipelining: 'broken' });
    wait(2);
    expect(learned.of(at('192.0.2.1'))).toEqual(NOTHING_LEARNED);
  });

  it('is bounded in number: the one that was used longest ago is forgotten', () => {
    const { learned } = learnedHosts();
    const address = (i: number) => `10.0.${i >> 8}.${i & 255}`;
    for (let i = 0; i <= 10_000; i++) learned.learn(at(address(i)), { pipelining: 'works' });
    expect(learned.of(at(address(0)))).toEqual(NOTHING_LEARNED);
    expect(learned.of(at(address(1)))).toEqual({ ...NOTHING_LEARNED, pipelining: 'works' });
  });

  it('includes for two hours where a recipient was greylisted', () => {
    const { learned, wait } = learnedHosts();
    const of = (path: string, egress = 'fra-1') => ({ egress, path });
    learned.noteGreylisted(of('jane@example.test'), 'mx2.example.test');
    wait(2 * HOUR_MS - 1);
    expect(learned.greylistedAt(of('jane@example.test'))).toBe('mx2.example.test');
    expect(learned.greylistedAt(of('ann@example.test'))).toBe(null);
    expect(learned.greylistedAt(of('jane@example.test', 'ham-2'))).toBe(null);
    wait(2);
    expect(learned.greylistedAt(of('jane@example.test'))).toBe(null);
  });
});
