import { describe, expect, it } from 'vitest';
import { labHosts, labOwners } from '../../../tests/lab/mailbox.ts';
import { SMTP_LIMITS } from './limits.ts';
import { catchAllOf, dialCandidates, outranks } from './mailbox.ts';
import { loadSilentOperators, mailOperatorKey } from './operators.ts';

describe('candidates', () => {
  const dns = labHosts({
    a: ['2001:db8::1', '2001:db8::2', '192.0.2.1', '192.0.2.2'],
    b: ['192.0.2.3', '192.0.2.4', '192.0.2.5'],
    c: ['2001:db8::3'],
    d: ['192.0.2.6'],
  });
  const of = (reachable: (family: 4 | 6) => boolean) =>
    dialCandidates(dns, SMTP_LIMITS, reachable).map(({ host, address }) => `${host} ${address}`);

  it('are three hosts with two addresses each, one of either family where there are both', () => {
    expect(of(() => true)).toEqual(['a 192.0.2.1', 'a 2001:db8::1', 'b 192.0.2.3', 'b 192.0.2.4', 'c 2001:db8::3']);
  });

  it('have only families with an egress address', () => {
    expect(of((family) => family === 4)).toEqual(['a 192.0.2.1', 'a 192.0.2.2', 'b 192.0.2.3', 'b 192.0.2.4']);
  });
});

describe('findings', () => {
  it('rank blocked before temporary before timeout before unreachable', () => {
    expect(outranks('smtp_blocked', 'smtp_temporary_failure')).toBe(true);
    expect(outranks('smtp_temporary_failure', 'smtp_timeout')).toBe(true);
    expect(outranks('smtp_timeout', 'smtp_unreachable')).toBe(true);
    expect(outranks('smtp_unreachable', 'smtp_unreachable')).toBe(false);
  });

  it('show a catch-all only by a reply to the random recipient', () => {
    expect(catchAllOf('accepted', null, 5)).toMatchObject({ result: 'fail', checkedAt: 5 });
    for (const finding of ['mailbox_not_found', 'mailbox_disabled', 'relay_denied'] as const) {
      expect(catchAllOf(finding, null, 5).result).toBe('pass');
    }
    for (const finding of [
      'greylisted',
      'smtp_blocked',
      'smtp_timeout',
      'smtp_unverifiable',
      'mailbox_full',
    ] as const) {
      expect(catchAllOf(finding, null, 5)).toEqual({
        result: 'unknown',
        why: finding,
        retryAfterSeconds: null,
        cached: false,
        checkedAt: null,
      });
    }
  });
});

describe('operators', () => {
  it.each([
    [['aspmx.l.google.com', 'alt1.aspmx.l.google.com'], 'google'],
    [['mx2.b.test', 'mx1.b.test', 'mx.a.test'], 'a.test b.test'],
    // Whoever names a provider's host in an MX record does not speak for the provider.
    [['aspmx.l.google.com', 'mx.a.test'], 'a.test google'],
  ])('are the providers, else the registrable domains, of all mail hosts: %s', (hosts, expected) => {
    const dns = labHosts(Object.fromEntries(hosts.map((host) => [host, []])), 'google');
    expect(mailOperatorKey(dns, labOwners)).toBe(expected);
  });

  it('that accept every recipient are listed with a source', () => {
    const rows = loadSilentOperators();
    expect(rows.map(({ operator }) => operator)).toContain('yahoo');
    for (const { why, source } of rows) {
      expect(why.length).toBeGreaterThan(20);
      expect(source).toMatch(/^https:\/\//);
    }
  });
});
