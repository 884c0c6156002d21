import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { CONTROL_ZONE, type DnsLab, type FalseAnswers, type Zone, zone } from '../../../tests/lab/dns.ts';
import { type Clock, systemClock as clock } from '../../kernel/clock.ts';
import { DNS_CONTROL_NAMES } from '../../kernel/control-names.ts';
import type { DnsQuestion, RecordType } from './message.ts';
import { createResolver } from './resolver.ts';
import type { TrustChange } from './servers.ts';
import { type ControlQuery, controlQuestion, replyKind, Trust, type TrustStep } from './trust.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const RECORDS: Zone = { ...CONTROL_ZONE, 'good.com': { A: ['192.0.2.1'], MX: [[1, 'good.com']] } };

async function lab(falseAnswers: FalseAnswers | null = null, records: Zone = RECORDS): Promise<DnsLab> {
  const made = await zone(records);
  if (falseAnswers) made.answerFalsely(falseAnswers);
  opened.push(made);
  return made;
}

function over(labs: readonly DnsLab[], more: { laboratory?: boolean; clock?: Clock; controlNames?: string[] } = {}) {
  const changes: TrustChange[] = [];
  const resolver = createResolver({
    servers: labs.flatMap(({ servers }) => servers),
    timeoutMs: 1000,
    controlNames: DNS_CONTROL_NAMES,
    onTrust: (change) => changes.push(change),
    clock,
    ...more,
  });
  opened.push(resolver);
  const ask = async (name: string, type: RecordType = 'A') =>
    (await resolver.ask(name, type, { deadlineMs: clock.elapsed() + 30_000 })).kind;
  return { resolver, ask, changes, trust: () => resolver.health().servers.map(({ trust }) => trust) };
}

const controlsOf = (dns: DnsLab) =>
  dns.queries.filter(({ name }) => name in CONTROL_ZONE || name.endsWith('.invalid')).length;

describe('several servers', () => {
  it.each([
    'nxdomain',
    'nodata',
    'one address',
  ] as const)('of which the first gives false answers (%s): the other is used', async (falseAnswers) => {
    const [wrong, correct] = [await lab(falseAnswers), await lab()];
    const { ask, trust } = over([wrong, correct]);
    expect(await ask('good.com')).toBe('records');
    expect(await ask('absent.com')).toBe('nxdomain');
    expect(trust()).toEqual([falseAnswers === 'one address' ? 'answers_every_name' : 'denies_every_name', 'trusted']);
    const before = wrong.asked('absent2.com');
    expect(await ask('absent2.com')).toBe('nxdomain');
    expect(wrong.asked('absent2.com')).toBe(before);
  });

  it('of which one begins to give false answers and the other is silent: no answers', async () => {
    const [wrong, silent] = [await lab(), await lab()];
    const { resolver, ask } = over([wrong, silent]);
    expect(await ask('good.com')).toBe('records');
    wrong.answerFalsely('nxdomain');
    await silent.pause('closed');
    expect(await ask('absent.com')).toBe('denies_every_name');
    expect(resolver.problem()).toBe('silent');
    expect(await resolver.alive({ deadlineMs: clock.elapsed() + 5000, sinceMs: clock.elapsed() })).toBe(false);
  });
});

it('all replies wait for one round of control queries', async () => {
  const dns = await lab();
  const { ask, resolver } = over([dns]);
  const names = Array.from({ length: 100 }, (_, i) => `absent${i}.com`);
  expect(new Set(await Promise.all(names.map((name) => ask(name))))).toEqual(new Set(['nxdomain']));
  expect(controlsOf(dns)).toBe(DNS_CONTROL_NAMES.length + 1);
  resolver.check();
  expect(controlsOf(dns)).toBe(DNS_CONTROL_NAMES.length + 1);
});

it('a denial waits until control queries that are lost are repeated', async () => {
  const dns = await lab(null, { ...RECORDS, '*.invalid': { fault: 'silent' } });
  const { ask } = over([dns]);
  expect(await ask('absent.com')).toBe('nxdomain');
});

it('a server with true answers that redirects names that do not exist is not used', async () => {
  const dns = await lab(null, { ...RECORDS, '*': { A: ['192.0.2.99'] } });
  const { ask, trust } = over([dns]);
  expect(await ask('good.com')).toBe('answers_every_name');
  expect(trust()).toEqual(['answers_every_name']);
});

it('knowing one of the control names suffices', async () => {
  const dns = await lab(null, { 'gmail.com': CONTROL_ZONE['gmail.com']! });
  expect(await over([dns]).ask('absent.com')).toBe('nxdomain');
});

it('what a server said before it was caught is forgotten, and each change is reported once', async () => {
  const dns = await lab();
  const { resolver, ask, changes } = over([dns]);
  for (let i = 0; i < 6; i++) expect(await ask(`absent${i}.com`)).toBe('nxdomain');
  dns.answerFalsely('nxdomain');
  // After so many denials, one is believed before the next is confirmed.
  expect(await ask('gmail.com', 'MX')).toBe('nxdomain');
  expect(await ask('absent9.com')).toBe('denies_every_name');
  expect(resolver.peek('gmail.com', 'MX')).toBeUndefined();
  expect(resolver.problem()).toBe('denies_every_name');
  expect(await ask('gmail.com', 'MX')).toBe('denies_every_name');
  await dns.resume();
  await expect.poll(() => ask('gmail.com', 'MX'), { timeout: 40_000 }).toBe('records');
  expect(changes.map(({ from, to }) => [from, to])).toEqual([
    ['unchecked', 'trusted'],
    ['trusted', 'denies_every_name'],
    ['denies_every_name', 'trusted'],
  ]);
});

it('without control names every reply is believed', async () => {
  const dns = await lab('nxdomain');
  const { ask, trust } = over([dns], { controlNames: [] });
  expect(await ask('gmail.com')).toBe('nxdomain');
  expect(trust()).toEqual(['unchecked']);
  expect(controlsOf(dns)).toBe(1);
});

it('a laboratory that knows only its own names is believed once one of them was found', async () => {
  const dns = await lab(null, { 'good.com': RECORDS['good.com']! });
  const { resolver, ask } = over([dns], { laboratory: true });
  resolver.check();
  await expect.poll(() => resolver.problem()).toBe('denies_every_name');
  expect(await ask('absent.com')).toBe('denies_every_name');
  expect(await ask('good.com')).toBe('records');
  expect(await ask('absent.com')).toBe('nxdomain');
  dns.answerFalsely('nodata');
  expect(await ask('good.com', 'MX')).toBe('denies_every_name');
});

it('closing ends replies that are held', async () => {
  const dns = await lab(null, { ...RECORDS, '*.invalid': { fault: 'silent' } });
  const { resolver, ask } = over([dns]);
  const open = ask('absent.com');
  await expect.poll(() => dns.asked('absent.com')).toBe(1);
  resolver.close();
  expect(await open).toBe('network');
});

const CONTROLS = ['com', 'org', 'gmail.com', 'outlook.com'].map(controlQuestion);
const ORDINARY: DnsQuestion = { name: 'a.test', type: 'MX' };

/** How a simulated server replies; `fails` to nothing, `unreliable` to one control name only. */
type Mode = 'correct' | 'denies' | 'answers' | 'fails' | 'unreliable';

/** A server whose control queries are answered immediately. */
function server(mode: Mode, laboratory = false) {
  let n = 0;
  const trust = new Trust({ controls: CONTROLS, invalidName: () => `x${n++}.invalid`, laboratory });
  const sent: ControlQuery[] = [];
  const state = { mode, now: 1_000_000 };
  const replyTo = ({ question, invalid }: ControlQuery) => {
    switch (state.mode) {
      case 'correct':
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
  function run(queries: readonly ControlQuery[]): Extract<TrustStep, { end: unknown }>['end'] | null {
    let step: TrustStep = { send: queries };
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
    const a = { owner: 'x', ttlSeconds: 1, record: { type: 'A', address: '192.0.2.1' } } as const;
    const cname = { owner: 'x', ttlSeconds: 1, record: { type: 'CNAME', host: 'y' } } as const;
    const reply = (records: readonly (typeof a | typeof cname)[], nxdomain = false) => ({
      nxdomain,
      records,
      negativeTtlSeconds: null,
    });
    expect(replyKind({ name: 'x', type: 'A' }, reply([a]))).toBe('positive');
    expect(replyKind({ name: 'x', type: 'MX' }, reply([cname]))).toBe('positive');
    expect(replyKind({ name: 'x', type: 'MX' }, reply([a]))).toBe('denial');
    expect(replyKind({ name: 'x', type: 'A' }, reply([cname], true))).toBe('denial');
    expect(replyKind({ name: 'x', type: 'AAAA' }, reply([]))).toBe('minor');
  });
});

describe('the state of a server', () => {
  it.each([
    ['correct', 'trusted'],
    ['unreliable', 'trusted'],
    ['denies', 'denies_every_name'],
    ['answers', 'answers_every_name'],
    ['fails', 'unchecked'],
  ] as const)('%s: %s', (mode, state) => {
    const { trust, reply } = server(mode);
    reply('denial');
    expect(trust.state).toBe(state);
  });

  it('no false answer is ever used, whatever is asked, and every answer of a correct server', () => {
    const kinds = fc.array(fc.tuple(fc.constantFrom('positive', 'denial', 'minor'), fc.nat(900_000)), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(kinds, fc.constantFrom('denies', 'answers', 'correct'), (events, mode) => {
        const { state, reply } = server(mode);
        for (const [kind, ms] of events) {
          state.now += ms;
          expect(reply(kind)).toBe(mode === 'correct');
        }
      }),
    );
  });

  it('is found again once the server is correct', () => {
    for (const falseAnswers of ['denies', 'answers'] as const) {
      const { state, reply } = server(falseAnswers);
      expect(reply('positive')).toBe(false);
      state.mode = 'correct';
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

  it('a server that begins to give false answers is caught by its first denial in moderate traffic', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('positive', 'minor'), { maxLength: 50 }),
        fc.integer({ min: 0, max: 4 }),
        fc.constantFrom<Mode>('denies', 'answers'),
        (traffic, denials, falseAnswers) => {
          const { state, reply } = server('correct');
          for (let i = 0; i < denials; i++) reply('denial');
          for (const kind of traffic) reply(kind);
          state.mode = falseAnswers;
          expect(reply('denial')).toBe(false);
          expect(reply('positive')).toBe(false);
        },
      ),
    );
  });

  it('after many denials, a server that begins to give false answers is caught within a run as long as the traffic has shown', () => {
    const { state, reply } = server('correct');
    for (let i = 0; i < 1000; i++) reply(i % 3 === 0 ? 'positive' : 'denial');
    state.mode = 'denies';
    const used = Array.from({ length: 50 }, () => reply('denial')).filter(Boolean).length;
    expect(used).toBeLessThan(8);
  });

  it('an hour of a correct server costs few control queries, whatever the traffic', () => {
    const shapes = fc.array(fc.constantFrom('positive', 'denial', 'minor'), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(shapes, fc.integer({ min: 1, max: 60_000 }), (pattern, everyMs) => {
        const { state, sent, reply } = server('correct');
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
    const { sent, reply } = server('correct');
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
