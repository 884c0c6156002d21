import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BUILT_IN_POLICIES,
  DECISION_GROUNDS,
  decide,
  decideOutage,
  GROUND_ROWS,
  type JudgedReply,
  languageFor,
  NO_RULES,
  POLICY_ACTIONS,
  type PolicyRules,
  SIGNAL_ROWS,
  SIGNALS,
  type Signal,
} from './policies.ts';
import { DELIVERABILITIES, REASON_NAMES } from './reasons.ts';

const PLAIN: JudgedReply = {
  deliverability: 'deliverable',
  reason: null,
  is_disposable: false,
  did_you_mean: null,
  tag: null,
  is_relay: false,
  is_role: false,
  is_free: false,
  is_catch_all: false,
  is_mailbox_full: false,
  seen: { before: false },
};

/** A reply with this signal alone, and those that are near it without being it. */
const SAMPLES: Readonly<Record<Signal, { is: readonly Partial<JudgedReply>[]; not: readonly Partial<JudgedReply>[] }>> =
  {
    disposable: { is: [{ is_disposable: true }], not: [{ deliverability: 'risky' }] },
    relay: { is: [{ is_relay: true }], not: [{ is_relay: null }] },
    role: { is: [{ is_role: true }], not: [{ is_role: null }] },
    free: { is: [{ is_free: true }], not: [{ is_free: null }] },
    catch_all: { is: [{ is_catch_all: true }], not: [{ is_catch_all: null }, { reason: 'catch_all' }] },
    unknown: {
      is: [
        { deliverability: 'unknown', reason: 'dns_failure' },
        { deliverability: 'unknown', reason: 'smtp_timeout' },
      ],
      // Level mx: nobody asked about the mailbox.
      not: [{ deliverability: 'unknown', reason: null }, { deliverability: 'risky' }],
    },
    full: { is: [{ is_mailbox_full: true }], not: [{ is_mailbox_full: null }] },
    typo: { is: [{ did_you_mean: 'jane@gmail.com' }], not: [] },
    tag: { is: [{ tag: 'news' }, { tag: '' }], not: [{ tag: null }] },
    seen_before: { is: [{ seen: { before: true } }], not: [{ seen: null }, { seen: { before: false } }] },
  };

const only = (signal: Signal, action: PolicyRules['onOutage']): PolicyRules => ({
  ...NO_RULES,
  signals: { ...NO_RULES.signals, [signal]: action },
});

const replies: fc.Arbitrary<JudgedReply> = fc.record({
  deliverability: fc.constantFrom(...DELIVERABILITIES),
  reason: fc.constantFrom(null, ...REASON_NAMES),
  is_disposable: fc.boolean(),
  did_you_mean: fc.constantFrom(null, 'jane@gmail.com'),
  tag: fc.constantFrom(null, 'news'),
  is_relay: fc.constantFrom(null, true, false),
  is_role: fc.constantFrom(null, true, false),
  is_free: fc.constantFrom(null, true, false),
  is_catch_all: fc.constantFrom(null, true, false),
  is_mailbox_full: fc.constantFrom(null, true, false),
  seen: fc.constantFrom(null, { before: true }, { before: false }),
});
const action = fc.constantFrom(...POLICY_ACTIONS);
const rules: fc.Arbitrary<PolicyRules> = fc
  .tuple(fc.array(action, { minLength: SIGNALS.length, maxLength: SIGNALS.length }), action)
  .map(([actions, onOutage]) => ({
    ...NO_RULES,
    signals: { ...NO_RULES.signals, ...Object.fromEntries(SIGNALS.map((signal, i) => [signal, actions[i]])) },
    onOutage,
  }));
const rank = (of: PolicyRules['onOutage']): number => POLICY_ACTIONS.indexOf(of);

describe('signals', () => {
  it.each(SIGNALS)('%s is read from its own field', (signal) => {
    for (const fields of SAMPLES[signal].is)
      for (const each of POLICY_ACTIONS)
        expect(decide(only(signal, each), { ...PLAIN, ...fields }), JSON.stringify(fields)).toMatchObject({
          action: each,
          because: each === 'accept' ? [] : [signal],
        });
    for (const fields of SAMPLES[signal].not)
      expect(decide(only(signal, 'reject'), { ...PLAIN, ...fields }), JSON.stringify(fields)).toEqual({
        action: 'accept',
        because: [],
        message: null,
      });
  });

  it.each(SIGNALS)('%s is no signal in a reply that does not have its field', (signal) => {
    const { deliverability, reason, is_disposable, did_you_mean } = PLAIN;
    const old = { deliverability, reason, is_disposable, did_you_mean };
    expect(decide(only(signal, 'reject'), old).action).toBe('accept');
  });
});

describe('decide', () => {
  it('rejects what is undeliverable, whatever the policy', () => {
    fc.assert(
      fc.property(rules, replies, (policy, reply) => {
        const { action, because } = decide(policy, { ...reply, deliverability: 'undeliverable' });
        expect(action).toBe('reject');
        expect(because).toContain('undeliverable');
      }),
    );
  });

  it('is as hard as the hardest of its signals, and names those', () => {
    fc.assert(
      fc.property(rules, replies, (policy, reply) => {
        const decision = decide(policy, reply);
        for (const signal of SIGNALS) {
          const isSet = decide(only(signal, 'reject'), { ...reply, deliverability: 'deliverable' }).action === 'reject';
          if (isSet) expect(rank(decision.action)).toBeGreaterThanOrEqual(rank(policy.signals[signal]));
        }
        const named = decision.because.map((ground) =>
          ground === 'undeliverable' || ground === 'outage' ? 'reject' : policy.signals[ground],
        );
        expect(new Set(named)).toEqual(new Set(decision.action === 'accept' ? [] : [decision.action]));
        expect(decision.message === null).toBe(decision.action === 'accept');
      }),
    );
  });

  it('a harder action for one signal never makes a decision milder', () => {
    fc.assert(
      fc.property(rules, replies, fc.constantFrom(...SIGNALS), (policy, reply, signal) => {
        const harder = { ...policy, signals: { ...policy.signals, [signal]: 'reject' as const } };
        expect(rank(decide(harder, reply).action)).toBeGreaterThanOrEqual(rank(decide(policy, reply).action));
      }),
    );
  });

  it('names several signals of the same action, the first of which has the message', () => {
    const policy = BUILT_IN_POLICIES.find(({ name }) => name === 'strict')!;
    const reply = { ...PLAIN, is_disposable: true, is_role: true, is_relay: true };
    expect(decide(policy, reply)).toEqual({
      action: 'reject',
      because: ['disposable', 'role'],
      message: 'Use a permanent email address.',
    });
  });
});

describe('the built-in policies', () => {
  it('are signup and strict', () => {
    expect(BUILT_IN_POLICIES.map(({ name }) => name)).toEqual(['signup', 'strict']);
    const [signup] = BUILT_IN_POLICIES;
    expect(Object.entries(signup!.signals).filter(([, each]) => each !== 'accept')).toEqual([
      ['disposable', 'reject'],
      ['typo', 'review'],
      ['seen_before', 'reject'],
    ]);
    expect(signup!.onOutage).toBe('accept');
  });
});

describe('an outage', () => {
  it.each(POLICY_ACTIONS)('is %s where the policy says so', (each) => {
    const { message, ...decision } = decideOutage({ ...NO_RULES, onOutage: each });
    expect(decision).toEqual({ action: each, because: ['outage'] });
    expect(message).toBe(each === 'accept' ? null : GROUND_ROWS.outage.message);
  });
});

describe('messages', () => {
  const policy: PolicyRules = {
    ...only('typo', 'reject'),
    messages: { typo: { de: 'Meinten Sie {suggestion}?', 'pt-BR': 'Você quis dizer {suggestion}?' } },
  };
  const reply = { ...PLAIN, did_you_mean: 'jane@gmail.com' };
  it.each([
    ['de', 'Meinten Sie jane@gmail.com?'],
    ['de-CH', 'Meinten Sie jane@gmail.com?'],
    ['pt-br', 'Você quis dizer jane@gmail.com?'],
    ['pt', 'Você quis dizer jane@gmail.com?'],
    ['fr;q=0.9, pt;q=0.5, de;q=0.1', 'Você quis dizer jane@gmail.com?'],
    ['de;q=0, pt-PT', 'Você quis dizer jane@gmail.com?'],
    ['fr', 'Meinten Sie jane@gmail.com?'],
    ['*', 'Meinten Sie jane@gmail.com?'],
    ['', 'Meinten Sie jane@gmail.com?'],
    [null, 'Meinten Sie jane@gmail.com?'],
  ])('for %s: %s', (language, message) => {
    expect(decide(policy, reply, language).message).toBe(message);
  });

  it('every ground has one of its own', () => {
    expect(new Set(DECISION_GROUNDS.map((ground) => GROUND_ROWS[ground].message)).size).toBe(DECISION_GROUNDS.length);
    expect(decide(only('role', 'reject'), { ...PLAIN, is_role: true }, 'de').message).toBe(GROUND_ROWS.role.message);
  });

  it('takes any text for the languages that are wanted', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('en', 'de', 'de-CH', 'zh-Hant'), { maxLength: 4 }),
        fc.string(),
        (has, text) => {
          expect([null, ...has]).toContain(languageFor(has, text));
          expect(languageFor(has, text) === null).toBe(has.length === 0);
        },
      ),
    );
  });
});

it('docs/policies.md says how each signal is read', () => {
  const page = readFileSync(new URL('../../../docs/policies.md', import.meta.url), 'utf8');
  for (const signal of SIGNALS) expect(page).toContain(`| \`${signal}\` | ${SIGNAL_ROWS[signal].readFrom} |`);
});
