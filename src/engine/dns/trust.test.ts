import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Question } from './message.ts';
import { type ControlQuery, controlQuestion, kindOf, type Step, Trust } from './trust.ts';

const CONTROLS = ['com', 'org', 'gmail.com', 'outlook.com'].map(controlQuestion);
const ORDINARY: Question = { name: 'a.test', type: 'MX' };

/** How a simulated server replies; `fails` to nothing, `unreliable` to one control name only. */
type Mode = 'honest' | 'denies' | 'answers' | 'fails' | 'unreliable';

/** A server whose control queries are answered immediately. */
function server(mode: Mode, laboratory = false) {
  let n = 0;
  const trust = new Trust({ controls: CONTROLS, invalidName: () => `x${n++}.invalid`, laboratory });
  const sent: ControlQuery[] = [];
  const state = { mode, now: 1_000_000 };
  const replyTo = ({ question, invalid }: ControlQuery) => {
    switch (state.mode) {
      case 'honest':
        return invalid ? 'denial' : 'positive';
      case 'denies':
        return 'denial';
      case 'answers':
        return question.type === 'A' ? 'positive' : 'denial';
      case 'fails':
        return null;
      case 'unreliable':
        return question === CONTROLS[3] ? 'positive' : null;
    }
  };
  function run(queries: readonly ControlQuery[]): Extract<Step, { end: unknown }>['end'] | null {
    let step: Step = { send: queries };
    while (step !== null && 'send' in step) {
      const pending: readonly ControlQuery[] = step.send;
      sent.push(...pending);
      step = null;
      for (const query of pending) step = trust.onControl(query, replyTo(query), state.now) ?? step;
    }
    return step && 'end' in step ? step.end : null;
  }
  /** What becomes of a reply: used or not. */
  function reply(kind: 'positive' | 'denial' | 'minor'): boolean {
    const ruling = trust.rule(kind, state.now);
    const queries = ruling === 'hold' ? trust.begin(state.now) : [];
    if (kind === 'positive') trust.onFound(ORDINARY, state.now);
    if (ruling !== 'hold') return ruling === 'believe';
    const end = run(queries);
    return end === 'trusted' || (end === 'inconclusive' && kind !== 'denial');
  }
  return { trust, state, sent, reply };
}

describe('kindOf', () => {
  it('finds records of the queried type, or an alias', () => {
    const a = { owner: 'x', ttl: 1, record: { type: 'A', address: '192.0.2.1' } } as const;
    const cname = { owner: 'x', ttl: 1, record: { type: 'CNAME', host: 'y' } } as const;
    const reply = (records: readonly (typeof a | typeof cname)[], nxdomain = false) => ({
      nxdomain,
      records,
      negativeTtl: null,
    });
    expect(kindOf({ name: 'x', type: 'A' }, reply([a]))).toBe('positive');
    expect(kindOf({ name: 'x', type: 'MX' }, reply([cname]))).toBe('positive');
    expect(kindOf({ name: 'x', type: 'MX' }, reply([a]))).toBe('denial');
    expect(kindOf({ name: 'x', type: 'A' }, reply([cname], true))).toBe('denial');
    expect(kindOf({ name: 'x', type: 'AAAA' }, reply([]))).toBe('minor');
  });
});

describe('the state of a server', () => {
  it.each([
    ['honest', 'trusted'],
    ['unreliable', 'trusted'],
    ['denies', 'denies_every_name'],
    ['answers', 'answers_every_name'],
    ['fails', 'unchecked'],
  ] as const)('%s: %s', (mode, state) => {
    const { trust, reply } = server(mode);
    reply('denial');
    expect(trust.state).toBe(state);
  });

  it('nothing from a liar is ever used, whatever is asked, and everything from an honest server', () => {
    const kinds = fc.array(fc.tuple(fc.constantFrom('positive', 'denial', 'minor'), fc.nat(900_000)), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(kinds, fc.constantFrom('denies', 'answers', 'honest'), (events, mode) => {
        const { state, reply } = server(mode);
        for (const [kind, ms] of events) {
          state.now += ms;
          expect(reply(kind)).toBe(mode === 'honest');
        }
      }),
    );
  });

  it('is found again once the server is honest', () => {
    for (const lie of ['denies', 'answers'] as const) {
      const { state, reply } = server(lie);
      expect(reply('positive')).toBe(false);
      state.mode = 'honest';
      expect(reply('positive')).toBe(false);
      state.now += 1000;
      expect(reply('denial')).toBe(true);
    }
  });

  it('no denial is used while control queries fail', () => {
    const { state, reply } = server('fails');
    for (const ms of [0, 10, 5000]) {
      state.now += ms;
      expect([reply('denial'), reply('positive')]).toEqual([false, true]);
    }
  });

  it('a server that begins to lie is caught by its first denial in moderate traffic', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('positive', 'minor'), { maxLength: 50 }),
        fc.integer({ min: 0, max: 4 }),
        fc.constantFrom<Mode>('denies', 'answers'),
        (traffic, denials, lie) => {
          const { state, reply } = server('honest');
          for (let i = 0; i < denials; i++) reply('denial');
          for (const kind of traffic) reply(kind);
          state.mode = lie;
          expect(reply('denial')).toBe(false);
          expect(reply('positive')).toBe(false);
        },
      ),
    );
  });

  it('after many denials, a server that begins to lie is caught within a run as long as the traffic has shown', () => {
    const { state, reply } = server('honest');
    for (let i = 0; i < 1000; i++) reply(i % 3 === 0 ? 'positive' : 'denial');
    state.mode = 'denies';
    const used = Array.from({ length: 50 }, () => reply('denial')).filter(Boolean).length;
    expect(used).toBeLessThan(8);
  });

  it('an hour of an honest server costs few control queries, whatever the traffic', () => {
    const shapes = fc.array(fc.constantFrom('positive', 'denial', 'minor'), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(shapes, fc.integer({ min: 1, max: 60_000 }), (pattern, everyMs) => {
        const { state, sent, reply } = server('honest');
        const steps = Math.min(3_600_000 / everyMs, 20_000);
        for (let i = 0; i < steps; i++) {
          state.now += everyMs;
          expect(reply(pattern[i % pattern.length]!)).toBe(true);
        }
        expect(sent.length).toBeLessThan(45);
      }),
      { numRuns: 10 },
    );
  });

  it('confirms by different names in turn', () => {
    const { sent, reply } = server('honest');
    for (let i = 0; i < 4; i++) reply('denial');
    const confirmations = sent.filter(({ round }) => !round.full).map(({ question }) => question.name);
    expect(new Set(confirmations).size).toBe(3);
  });

  it('in a laboratory, any name that is found vouches for a server that knows none of the control names', () => {
    for (const [laboratory, used] of [
      [true, true],
      [false, false],
    ] as const) {
      const { trust, reply } = server('denies', laboratory);
      reply('denial');
      expect(trust.state).toBe('denies_every_name');
      expect(reply('positive')).toBe(used);
    }
  });
});
