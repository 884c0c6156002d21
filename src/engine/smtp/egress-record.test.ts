import { expect, it } from 'vitest';
import { HOUR_MS } from '../../kernel/clock.ts';
import type { SmtpEvidence } from '../evidence.ts';
import { EgressRecord, problemsOf } from './egress.ts';
import { resultWithoutDialogue } from './mailbox.ts';

const evidence = (what: Partial<SmtpEvidence>): SmtpEvidence => ({
  ...resultWithoutDialogue('server', 'accepted', 'x'),
  host: 'mx.example.test',
  transcript: { lines: [] },
  attempts: [],
  ...what,
});

it('tells the shares of the last hour and day, and what stands out', () => {
  let now = 10 * HOUR_MS;
  const record = new EgressRecord({ now: () => 0, elapsed: () => now });
  expect(record.shares(1)).toEqual({ checks: 0, blocked: null, deferred: null, proxyFailed: null, answerMs: null });
  for (let i = 0; i < 30; i++) record.note(evidence(i < 6 ? { finding: 'smtp_blocked' } : {}), 200);
  now += 2 * HOUR_MS;
  for (let i = 0; i < 10; i++) record.note(evidence(i < 5 ? { finding: 'greylisted' } : {}), 100);
  expect(record.shares(1)).toEqual({ checks: 10, blocked: 0, deferred: 0.5, proxyFailed: 0, answerMs: 100 });
  expect(record.shares(24)).toEqual({ checks: 40, blocked: 0.15, deferred: 0.125, proxyFailed: 0, answerMs: 175 });
  expect(problemsOf('ok', record.shares(24)).map(({ problem }) => problem)).toEqual(['often_refused']);
  expect(problemsOf('ok', record.shares(1))).toEqual([]);
  expect(problemsOf('resting', record.shares(1)).map(({ problem }) => problem)).toEqual(['proxy_fails']);
  now += 25 * HOUR_MS;
  expect(record.shares(24).checks).toBe(0);
});

it('counts what never left this host only where a SOCKS server failed', () => {
  const record = new EgressRecord({ now: () => 0, elapsed: () => 0 });
  record.note(evidence({ host: null, finding: 'smtp_timeout', rule: 'pace.deadline' }), 5);
  record.note(evidence({ decidedBy: 'cancelled', finding: 'smtp_timeout' }), 5);
  record.note(evidence({ host: null, finding: 'smtp_unreachable', rule: 'egress.proxy_failed' }), 5);
  expect(record.shares(1)).toMatchObject({ checks: 1, proxyFailed: 1 });
});
