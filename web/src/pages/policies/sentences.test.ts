import { describe, expect, it } from 'vitest';
import { BUILT_IN_POLICIES } from '../../../../src/kernel/facts/policies.ts';
import { type Rules, sentencesOf } from './sentences.ts';

const builtIn = (wanted: string): Rules => {
  const { signals, level, timeoutMs, onOutage } = BUILT_IN_POLICIES.find(({ name }) => name === wanted)!;
  return { signals, validation_type: level, timeout_ms: timeoutMs, on_outage: onOutage, messages: {} };
};

describe('a policy in sentences', () => {
  it('signup', () => {
    expect(sentencesOf(builtIn('signup'))).toEqual([
      'Undeliverable addresses are rejected, as by every policy.',
      'Disposable addresses and mailboxes that were seen before are rejected.',
      'Likely typos are accepted for now, to be reviewed.',
      'Everything else is accepted.',
      'Whether a mailbox was seen before is known only of requests with a scope.',
      'Addresses are checked at level mx, for at most 10 seconds, unless the request says otherwise.',
      'Where there is no verdict, because of an outage, an empty balance or a limit, the address is accepted.',
    ]);
  });

  it('one that accepts everything says so', () => {
    const signals = builtIn('signup').signals;
    const all = { ...signals, disposable: 'accept', typo: 'accept', seen_before: 'accept' } as const;
    const rules: Rules = { ...builtIn('signup'), signals: all, timeout_ms: 1_500, on_outage: 'reject' };
    expect(sentencesOf(rules)).toEqual([
      'Undeliverable addresses are rejected, as by every policy.',
      'Everything else is accepted.',
      'Addresses are checked at level mx, for at most 1.5 seconds, unless the request says otherwise.',
      'Where there is no verdict, because of an outage, an empty balance or a limit, the address is rejected.',
    ]);
  });
});
