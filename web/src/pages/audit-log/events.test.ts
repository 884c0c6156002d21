import { describe, expect, it } from 'vitest';
import { describeActor, describeEvent } from './events.ts';

type Entry = Parameters<typeof describeEvent>[0];
const entry = (action: Entry['action'], detail: Entry['detail'] = {}, more: Partial<Entry> = {}): Entry => ({
  id: 1,
  at: '2026-11-21T00:00:00.000Z',
  actor: { kind: 'user', name: 'ada@example.com' },
  ip: null,
  action,
  target: 'bob@example.com',
  detail,
  count: 1,
  last_at: '2026-11-21T00:00:00.000Z',
  ...more,
});

/** As a newer server may send it. */ const unknown = (action: string, detail: Entry['detail'] = {}): Entry =>
  Object.assign(entry('key.changed', detail), { action });

describe('audit log entries', () => {
  it.each<[action: Entry['action'], detail: Entry['detail'], title: string, details: string | null]>([
    ['account.created', { plan: 'premium', rate_limit: null, credits: 1 }, 'Created the account', 'Premium, 1 credit'],
    ['account.renamed', { from: 'A', to: 'B' }, 'Renamed the account', 'from “A” to “B”'],
    [
      'account.retention_set',
      { from: null, to: 7 },
      'Changed the retention period',
      'from the server default to 7 days',
    ],
    [
      'account.trust_bounces_set',
      { from: null, to: 30 },
      'Changed for how long bounces are trusted',
      'from not at all to 30 days',
    ],
    ['alerts.changed', { mails: [], paused: true }, 'Changed the alerts by mail', 'paused'],
    ['account.low_balance_set', { from: 5, to: null }, 'Changed the low-balance threshold', 'from 5 credits to none'],
    ['account.plan_set', { from: 'starter', to: 'enterprise' }, 'Changed the plan', 'from Starter to Enterprise'],
    ['account.rate_limit_set', { from: null, to: 9 }, 'Changed the rate limit', 'from the plan default to 9 requests'],
    ['account.suspended', { from: 'active', to: 'suspended' }, 'Suspended the account', null],
    ['account.resumed', { from: 'suspended', to: 'active' }, 'Resumed the account', null],
    ['credits.granted', { credits: 5, note: 'paid' }, 'Granted credits', '5 credits, “paid”'],
    ['credits.granted', { credits: -5, note: 'error' }, 'Deducted credits', '5 credits, “error”'],
    [
      'key.created',
      { last_four: '8FqX', allow_ips: [] },
      'Created an API key',
      'ending in 8FqX, allowed from any IP address',
    ],
    [
      'key.changed',
      { key: 'key_1', name: { from: 'A', to: 'B' }, allow_ips: { from: [], to: ['192.0.2.1', '192.0.2.2'] } },
      'Edited an API key',
      'from “A” to “B”, allowed from any IP address to 192.0.2.1, 192.0.2.2',
    ],
    ['key.changed', { key: 'key_1', name: { from: 'A', to: 'B' } }, 'Edited an API key', 'from “A” to “B”'],
    [
      'key.changed',
      { key: 'key_1', scopes: { from: ['verify', 'usage'], to: ['verify'] }, monthly_credits: { from: null, to: 1 } },
      'Edited an API key',
      'scopes from verify, usage to verify, monthly budget from unlimited to 1 credit',
    ],
    ['key.revoked', { key: 'key_1' }, 'Revoked an API key', null],
    ['key.rolled', { grace_seconds: 0 }, 'Rolled an API key', 'old key revoked immediately'],
    ['key.rolled', { grace_seconds: 172_800 }, 'Rolled an API key', 'old key valid for 2 more days'],
    ['key.rolled', { grace_seconds: 3600 }, 'Rolled an API key', 'old key valid for 1 more hour'],
    ['filter.added', { reason: 'why' }, 'Added a filter', '“why”'],
    ['filter.removed', { reason: null }, 'Removed a filter', null],
    ['filters.imported', { added: 3, given: 4 }, 'Imported filters', '3 of 4 lines added'],
    ['scope.forgotten', { forgotten: 2 }, 'Forgot the mailboxes seen in a scope', '2 mailboxes'],
    ['log.erased', { erased: 1 }, 'Erased an address from the log', '1 record'],
    ['list.created', { list: 'lst_1', rows: 3, addresses: 2 }, 'Uploaded a list', '2 addresses'],
    ['list.started', { list: 'lst_1' }, 'Started a list', null],
    ['list.paused', { list: 'lst_1' }, 'Paused a list', null],
    ['list.resumed', { list: 'lst_1' }, 'Resumed a list', null],
    ['list.cancelled', { list: 'lst_1' }, 'Canceled a list', null],
    ['list.deleted', { list: 'lst_1' }, 'Deleted a list', null],
    ['member.added', { role: 'admin' }, 'Added a member', 'as admin'],
    ['member.added', { role: 'admin', invited: true }, 'Joined by invitation', 'as admin'],
    ['member.role_changed', { from: 'member', to: 'owner' }, 'Changed a role', 'from member to owner'],
    ['member.removed', { role: 'member' }, 'Removed a member', 'as member'],
    ['member.invited', { role: 'member' }, 'Invited a member', 'as member'],
    ['invitation.withdrawn', { role: 'member' }, 'Revoked an invitation', 'as member'],
    [
      'user.signed_in',
      { factor: 'recovery_code', device: 'Firefox on Linux' },
      'Signed in',
      'with a recovery code, Firefox on Linux',
    ],
    ['user.signed_in', { factor: 'passkey', device: null }, 'Signed in', 'with a passkey'],
    ['user.signed_out', { everywhere: true, device: null }, 'Signed out everywhere', null],
    ['user.signed_out', { others: 1, device: null }, 'Ended 1 other session', null],
    ['user.signed_out', { others: 3, device: null }, 'Ended 3 other sessions', null],
    ['user.authentication_failed', { more: true }, 'Failed to confirm their identity', 'from further addresses'],
    ['user.passkey_added', { passkey: 'Blue key', device: null }, 'Added a passkey', '“Blue key”'],
    [
      'policy.changed',
      { changes: { 'signals.role': { from: 'accept', to: 'review' }, timeout_ms: { from: 10_000, to: 5_000 } } },
      'Changed a policy',
      'signals.role from “accept” to “review”, timeout_ms from 10,000 to 5,000',
    ],
    [
      'policy.created',
      { changes: { 'messages.tag.en': { from: null, to: 'No tags.' } } },
      'Created a policy',
      'messages.tag.en from none to “No tags.”',
    ],
  ])('%s %j', (action, detail, title, details) => {
    expect(describeEvent(entry(action, detail))).toEqual({ title, details });
  });

  it('say how often they were repeated, and that nobody was signed in', () => {
    const failed = entry(
      'user.authentication_failed',
      { factor: 'password', device: null },
      { count: 1200, actor: { kind: 'anonymous', name: '' } },
    );
    const { title, details } = describeEvent(failed);
    expect(title).toBe('Failed sign-in attempt');
    expect(details).toMatch(/^with a password, 1,200 times, the last at /);
  });

  it('distinguish leaving from being removed', () => {
    const left = entry('member.removed', { role: 'member' }, { target: 'ada@example.com' });
    expect(describeEvent(left)).toEqual({ title: 'Left the account', details: 'as member' });
  });

  it('with an unknown action or unexpected details are still shown', () => {
    expect(describeEvent(unknown('key.lent_out', { to: 'x' }))).toEqual({ title: 'key.lent_out', details: null });
    expect(describeEvent(unknown('constructor'))).toEqual({ title: 'constructor', details: null });
    expect(describeEvent(entry('key.changed', { name: null, allow_ips: 'x' }))).toEqual({
      title: 'Edited an API key',
      details: null,
    });
    expect(describeEvent(entry('account.plan_set'))).toEqual({ title: 'Changed the plan', details: 'from ? to ?' });
  });

  it('name the actor', () => {
    const by = (kind: Entry['actor']['kind']) =>
      describeActor(entry('key.revoked', {}, { actor: { kind, name: 'x' } }));
    expect(by('user')).toBe('x');
    expect(by('operator')).toBe('x (operator)');
    expect(by('key')).toBe('API key x');
    expect(by('command')).toBe('Command line (x)');
    expect(by('service')).toBe('System');
    expect(by('anonymous')).toBe('Not signed in');
  });
});
