import { expect, it } from 'vitest';
import { outcomeOf } from '../kernel/facts/outcomes.ts';
import { LEVELS } from '../kernel/facts/plans.ts';
import { REASON_NAMES } from '../kernel/facts/reasons.ts';
import { ACCEPTED_VERDICTS, DNS_FINDINGS, OFFLINE_VERDICTS, SMTP_FINDINGS, type Verdict } from './findings.ts';

/** Every verdict that there is. */
const verdicts = [
  ...Object.values(OFFLINE_VERDICTS),
  ...Object.values(DNS_FINDINGS).map(({ verdict }) => verdict),
  ...Object.values(SMTP_FINDINGS).map(({ verdict }) => verdict),
  ...Object.values(ACCEPTED_VERDICTS),
].filter((verdict): verdict is Verdict => verdict !== null && typeof verdict === 'object');

it('counts each verdict by its deliverability, and apart what was not asked about', () => {
  expect(new Set(verdicts.map(({ reason }) => reason))).toEqual(new Set([null, ...REASON_NAMES]));
  for (const { level, status, reason, deliverability } of verdicts) {
    const expected = reason === null && level === 'mx' ? 'not_checked' : deliverability;
    expect([reason, status, outcomeOf(level, status, reason)]).toEqual([reason, status, expected]);
  }
});

it('counts a reason of a later version as unknown', () => {
  for (const level of LEVELS) expect(outcomeOf(level, 'good', 'from_the_future')).toBe('unknown');
});
