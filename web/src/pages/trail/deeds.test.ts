import { describe, expect, it } from 'vitest';
import { actor, deed } from './deeds.ts';

type Entry = Parameters<typeof deed>[0];
const entry = (action: string, detail: Entry['detail'] = {}, more: Partial<Entry> = {}): Entry => ({
  id: 1,
  at: '2026-11-21T00:00:00.000Z',
  actor: { kind: 'user', name: 'ada@example.com' },
  ip: null,
  action,
  target: 'bob@example.com',
  detail,
  ...more,
});

describe('the audit log in words', () => {
  it.each<[action: string, detail: Entry['detail'], what: string, more: string | null]>([
    ['account.created', { plan: 'premium', rate_limit: null, credits: 1 }, 'Opened the account', 'Premium, 1 credit'],
    ['account.renamed', { from: 'A', to: 'B' }, 'Renamed the account', 'from “A” to “B”'],
    ['account.retention_set', { from: null, to: 7 }, 'Set the retention', "from the server's own to 7 days"],
    ['account.low_balance_set', { from: 5, to: null }, 'Set the low-balance line', 'from 5 credits to none'],
    ['account.plan_set', { from: 'starter', to: 'enterprise' }, 'Changed the plan', 'from Starter to Enterprise'],
    ['account.rate_limit_set', { from: null, to: 9 }, 'Changed the rate limit', "from the plan's own to 9 requests"],
    ['account.suspended', { from: 'active', to: 'suspended' }, 'Suspended the account', null],
    ['account.resumed', { from: 'suspended', to: 'active' }, 'Resumed the account', null],
    ['credits.granted', { credits: 5, note: 'paid' }, 'Granted credits', '5 credits, “paid”'],
    ['credits.granted', { credits: -5, note: 'error' }, 'Took back credits', '5 credits, “error”'],
    ['key.created', { last_four: '8FqX', allow_ips: [] }, 'Created an API key', 'ending in 8FqX, for all addresses'],
    [
      'key.changed',
      { key: 'key_1', name: { from: 'A', to: 'B' }, allow_ips: { from: [], to: ['192.0.2.1', '192.0.2.2'] } },
      'Changed an API key',
      'from “A” to “B”, addresses from all addresses to 192.0.2.1, 192.0.2.2',
    ],
    ['key.changed', { key: 'key_1', name: { from: 'A', to: 'B' } }, 'Changed an API key', 'from “A” to “B”'],
    ['key.revoked', { key: 'key_1' }, 'Revoked an API key', null],
    ['key.rolled', { grace_seconds: 0 }, 'Rolled an API key', 'the old one refused at once'],
    ['key.rolled', { grace_seconds: 172_800 }, 'Rolled an API key', 'the old one valid for 2 days more'],
    ['key.rolled', { grace_seconds: 3600 }, 'Rolled an API key', 'the old one valid for 1 hour more'],
    ['filter.added', { reason: 'why' }, 'Added a filter', '“why”'],
    ['filter.removed', { reason: null }, 'Removed a filter', null],
    ['filters.imported', { added: 3, given: 4 }, 'Imported filters', '3 added of 4 lines'],
    ['log.erased', { erased: 1 }, 'Erased an address from the log', '1 entry'],
    ['member.added', { role: 'admin' }, 'Added a member', 'as admin'],
    ['member.added', { role: 'admin', invited: true }, 'Joined by invitation', 'as admin'],
    ['member.role_changed', { from: 'member', to: 'owner' }, 'Changed a role', 'from member to owner'],
    ['member.removed', { role: 'member' }, 'Removed a member', 'as member'],
    ['member.invited', { role: 'member' }, 'Invited somebody', 'as member'],
    ['invitation.withdrawn', { role: 'member' }, 'Withdrew an invitation', 'as member'],
  ])('%s %j', (action, detail, what, more) => {
    expect(deed(entry(action, detail))).toEqual({ what, more });
  });

  it('tells who leaves from who is removed', () => {
    const left = entry('member.removed', { role: 'member' }, { target: 'ada@example.com' });
    expect(deed(left)).toEqual({ what: 'Left the account', more: 'as member' });
  });

  it('shows what a newer server writes, and details of another shape, without failing', () => {
    expect(deed(entry('key.lent_out', { to: 'x' }))).toEqual({ what: 'key lent out', more: null });
    expect(deed(entry('constructor'))).toEqual({ what: 'constructor', more: null });
    expect(deed(entry('key.changed', { name: null, allow_ips: 'x' }))).toEqual({
      what: 'Changed an API key',
      more: null,
    });
    expect(deed(entry('account.plan_set'))).toEqual({ what: 'Changed the plan', more: 'from ? to ?' });
  });

  it('says who it was', () => {
    const by = (kind: Entry['actor']['kind']) => actor(entry('key.revoked', {}, { actor: { kind, name: 'x' } }));
    expect(by('user')).toBe('x');
    expect(by('operator')).toBe('x (operator)');
    expect(by('key')).toBe('API key x');
    expect(by('command')).toBe('The command line, as x');
    expect(by('service')).toBe('The service itself');
  });
});
