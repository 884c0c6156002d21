/** Hooks as auth servers call them, with their own sample bodies and, where there is such, their own code. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkOS } from '@workos-inc/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOOK_FACTS, HOOK_KINDS, type HookKind } from '../../src/kernel/facts/hooks.ts';
import { HOOK_BODY_BYTES, HOOK_MARGIN_MS, HOOKS_MAX } from '../../src/kernel/facts/limits.ts';
import { NO_RULES, type PolicyRules } from '../../src/kernel/facts/policies.ts';
import { newWebhookSecret } from '../../src/kernel/ids.ts';
import { SAMPLE_BODIES, SIGNED } from '../lab/hook-callers.ts';
import { openRaw, statusIn } from '../lab/raw-connection.ts';
import { type Lab, type Member, type Reply, request, startLab } from '../lab/service.ts';
import { type Client, of, signedIn } from './dashboard/client.ts';

const SOON = { timeout: 30_000 };
const DISPOSABLE = 'jane@mailinator.com';
let lab: Lab;

beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());

/** An account with someone who may change it. */
interface House {
  readonly member: Member;
  readonly admin: Client;
}
async function house(options: Parameters<Lab['member']>[0] = {}): Promise<House> {
  const member = await lab.member(options);
  return { member, admin: await signedIn(lab, { account: member.account, role: 'admin' }) };
}

interface LiveHook {
  readonly id: string;
  readonly kind: HookKind;
  readonly secret: string;
  /** Path of its URL. */
  readonly path: string;
}

/** As an admin makes it, and enters the secret of a caller that makes its own. */
async function hookOf({ member, admin }: House, kind: HookKind, more: object = {}): Promise<LiveHook> {
  const made = await admin.call('POST', of(member.account, '/hooks'), { kind, name: kind, policy: 'signup', ...more });
  expect(made.status, made.text).toBe(201);
  const { hook, secret } = made.json;
  const path = new URL(hook.url).pathname;
  expect(path).toBe(`/hooks/${hook.id}/${kind}`);
  if (HOOK_FACTS[kind].secretOf === 'us') return { id: hook.id, kind, secret, path };
  expect([secret, hook.has_secret]).toEqual([null, false]);
  const theirs = `secret-of-${kind}`;
  const entered = await admin.call('POST', of(member.account, `/hooks/${hook.id}/roll`), { secret: theirs });
  expect([entered.status, entered.json.secret, entered.json.hook.has_secret]).toEqual([200, null, true]);
  return { id: hook.id, kind, secret: theirs, path };
}

let events = 0;
interface Attempt {
  readonly id?: string;
  readonly at?: number;
  readonly secret?: string;
  readonly body?: unknown;
}
/** A call with the caller's sample body and signature. */
function call(hook: LiveHook, email: string | null, attempt: Attempt = {}): Promise<Reply> {
  events += 1;
  const { id = `msg_${events}`, at = Date.now(), secret = hook.secret } = attempt;
  // What the caller makes anew for each event.
  const sample = JSON.stringify(attempt.body ?? SAMPLE_BODIES[hook.kind](email))
    .replace('8b34dcdd-9df1-4c10-850a-b3277c653040', `uuid-${id}`)
    .replace('01JATCMZJY26PQ59XT9BNT0FNN', `action-${id}`)
    .replace('262851882718986704', `user-${id}`);
  return request(lab.url, 'POST', hook.path, sample, SIGNED[hook.kind]({ secret, body: sample, id, at }));
}

/** What the reply says in its caller's own form. */
const READ: Readonly<Record<HookKind, (reply: Reply) => { action: string; message: string | null }>> = {
  supabase: ({ json }) =>
    json.error === undefined ? { action: 'accept', message: null } : { action: 'reject', message: json.error.message },
  workos: ({ json }) => ({
    action: json.payload.verdict === 'Deny' ? 'reject' : 'accept',
    message: json.payload.error_message ?? null,
  }),
  kratos: ({ status, json }) =>
    status < 400
      ? { action: 'accept', message: null }
      : { action: 'reject', message: json.messages[0].messages[0].text },
  zitadel: ({ json }) =>
    json.forwardedStatusCode === undefined
      ? { action: 'accept', message: null }
      : { action: 'reject', message: json.forwardedErrorMessage },
  generic: ({ json }) => json,
};
const actionOf = (hook: LiveHook, reply: Reply) => READ[hook.kind](reply).action;

const balanceOf = async ({ member }: House) => (await lab.store.accounts.get(member.account.id))?.balance;
const logOf = async ({ member, admin }: House, query = '') =>
  (await admin.call('GET', of(member.account, `/log${query}`))).json;
/** Waits for so many calls that the log has without a verdict, newest first; they are written in the background. */
async function unanswered(of_: House, count: number) {
  await expect.poll(async () => (await logOf(of_, '?status=rejected')).rejected.length, SOON).toBe(count);
  return (await logOf(of_, '?status=rejected')).rejected as {
    code: string;
    answer: string;
    via: string;
    key: { name: string };
  }[];
}

async function policy({ member }: House, name: string, rules: Partial<PolicyRules>) {
  await lab.store.policies.put(member.account.id, { ...NO_RULES, ...rules, name }, BY);
}
const BY = { kind: 'command', id: null, name: 'test', ip: null } as const;

describe.each(HOOK_KINDS)('a hook of %s', (kind) => {
  it('accepts and rejects in the form of its caller, charged and logged like any verification', async () => {
    const own = await house();
    const hook = await hookOf(own, kind);
    const accepted = await call(hook, 'jane@good.com');
    expect([accepted.status, actionOf(hook, accepted)], accepted.text).toEqual([200, 'accept']);
    expect(accepted.headers.get('content-type')).toContain('application/json');
    const rejected = await call(hook, DISPOSABLE);
    expect(READ[kind](rejected)).toEqual({ action: 'reject', message: 'Use a permanent email address.' });
    expect(await balanceOf(own)).toBe(998);
    const { entries } = await logOf(own);
    expect(entries).toMatchObject([
      { email: DISPOSABLE, credits_used: 1, via: kind, key: { id: hook.id, name: kind } },
      { email: 'jane@good.com', credits_used: 1, via: kind, key: { id: hook.id, name: kind } },
    ]);
    const ofHooks = await logOf(own, '?origin=hook');
    expect(ofHooks.entries).toHaveLength(2);
    expect((await logOf(own, '?origin=compat')).entries).toEqual([]);
    // A rejected sign-up is a verdict, not a rejected request.
    await sleep(1_500);
    expect((await logOf(own, '?status=rejected')).rejected).toEqual([]);
    const hooks = async () => (await own.admin.call('GET', of(own.member.account, '/hooks'))).json.hooks;
    await expect.poll(async () => (await hooks())[0].last_used_at, SOON).not.toBe(null);
  });

  it('answers a further attempt at the same event alike, without charging or counting it again', async () => {
    const own = await house();
    const hook = await hookOf(own, kind);
    const at = Date.now();
    const first = await call(hook, DISPOSABLE, { id: 'same', at });
    const again = await call(hook, DISPOSABLE, { id: 'same', at });
    const results = [first, again].map((reply) => READ[kind](reply));
    expect(results[1]).toEqual(results[0]);
    expect([await balanceOf(own), (await logOf(own)).entries.length]).toEqual([999, 1]);
    // Another person in an event of the same name is another event.
    expect(actionOf(hook, await call(hook, 'bob@good.com', { id: 'same', at }))).toBe('accept');
    expect([await balanceOf(own), (await logOf(own)).entries.length]).toEqual([998, 2]);
  });

  it('refuses a signature that is missing, wrong or old, and whatever is not its own URL', async () => {
    const own = await house();
    const hook = await hookOf(own, kind);
    const minutes = 60_000;
    const unsigned = await request(lab.url, 'POST', hook.path, SAMPLE_BODIES[kind]('jane@good.com'));
    const replies = [
      unsigned,
      await call(hook, 'jane@good.com', { secret: `${hook.secret.slice(0, -5)}AAAA=` }),
      await call({ ...hook, path: `/hooks/hook_nothing/${kind}` }, 'jane@good.com'),
      ...(kind === 'kratos'
        ? []
        : [
            await call(hook, 'jane@good.com', { at: Date.now() - 6 * minutes }),
            await call(hook, 'jane@good.com', { at: Date.now() + 6 * minutes }),
          ]),
    ];
    for (const { status, json } of replies) expect([status, json.code]).toEqual([401, 'invalid_signature']);
    // The secret of one kind is none of another.
    const other: HookKind = kind === 'generic' ? 'supabase' : 'generic';
    const elsewhere = await call(
      { ...hook, kind: other, secret: newWebhookSecret(), path: `/hooks/${hook.id}/${other}` },
      'jane@good.com',
    );
    expect(elsewhere.status).toBe(401);
    expect([await balanceOf(own), (await logOf(own)).entries]).toEqual([1000, []]);
  });

  it('accepts a sign-up without an address, with a note in the log, and charges nothing', async () => {
    const own = await house();
    const hook = await hookOf(own, kind);
    const reply = await call(hook, null);
    expect([reply.status, actionOf(hook, reply)]).toEqual([200, 'accept']);
    expect(await unanswered(own, 1)).toMatchObject([
      { code: 'hook_without_address', answer: 'accept', via: kind, key: { id: hook.id, name: kind } },
    ]);
    expect(await balanceOf(own)).toBe(1000);
  });

  it('takes bodies of up to 64 KiB', async () => {
    const own = await house();
    const hook = await hookOf(own, kind);
    const padded = (bytes: number) => {
      const body = { ...(SAMPLE_BODIES[kind]('jane@good.com') as object), padding: '' };
      return { ...body, padding: 'x'.repeat(bytes - JSON.stringify(body).length) };
    };
    const fits = await call(hook, null, { body: padded(HOOK_BODY_BYTES - 100) });
    expect([fits.status, actionOf(hook, fits)], fits.text).toEqual([200, 'accept']);
    const tooLarge = await call(hook, null, { body: padded(HOOK_BODY_BYTES + 100) });
    expect([tooLarge.status, tooLarge.json.code]).toEqual([413, 'body_too_large']);
  });
});

describe('without a verdict, the policy’s on_outage is answered, and the log says why', () => {
  it.each(['accept', 'reject'] as const)('%s: with an empty balance', async (onOutage) => {
    const own = await house({ credits: 0 });
    await policy(own, 'mine', { onOutage });
    const hook = await hookOf(own, 'supabase', { policy: 'mine' });
    expect(actionOf(hook, await call(hook, 'jane@good.com'))).toBe(onOutage);
    expect(await unanswered(own, 1)).toMatchObject([
      { code: 'insufficient_credits', answer: onOutage, via: 'supabase' },
    ]);
  });

  it('with a limit of the account that is used up', async () => {
    const own = await house({ rateLimit: 2 });
    const hook = await hookOf(own, 'generic', { policy: 'strict', rate_limit: 100 });
    const actions = [];
    for (const name of ['a', 'b', 'c']) actions.push(actionOf(hook, await call(hook, `${name}@good.com`)));
    expect(actions).toEqual(['accept', 'accept', 'review']);
    expect(await unanswered(own, 1)).toMatchObject([{ code: 'rate_limit_exceeded', answer: 'review' }]);
  });

  it('with a limit of the hook that is used up, while the account goes on', async () => {
    const own = await house();
    const hook = await hookOf(own, 'generic', { policy: 'strict', rate_limit: 1 });
    const actions = [];
    for (const name of ['a', 'b']) actions.push(actionOf(hook, await call(hook, `${name}@good.com`)));
    expect(actions).toEqual(['accept', 'review']);
    expect(await unanswered(own, 1)).toMatchObject([{ code: 'rate_limit_exceeded', answer: 'review' }]);
    expect((await own.member.verify('c@good.com')).status).toBe(200);
  });

  it('half of the account’s limit is that of a hook by default', async () => {
    const own = await house({ rateLimit: 4 });
    const hook = await hookOf(own, 'generic', { policy: 'strict' });
    const actions = [];
    for (const name of ['a', 'b', 'c']) actions.push(actionOf(hook, await call(hook, `${name}@good.com`)));
    expect(actions).toEqual(['accept', 'accept', 'review']);
  });

  it('with a level that the plan does not have', async () => {
    const own = await house({ plan: 'starter' });
    await policy(own, 'mailbox', { level: 'smtp', onOutage: 'review' });
    const hook = await hookOf(own, 'generic', { policy: 'mailbox' });
    expect(actionOf(hook, await call(hook, 'jane@good.com'))).toBe('review');
    expect(await unanswered(own, 1)).toMatchObject([{ code: 'plan_upgrade_required', answer: 'review' }]);
  });

  it('of a suspended account', async () => {
    const own = await house();
    const hook = await hookOf(own, 'generic', { policy: 'strict' });
    await lab.store.accounts.set(own.member.account.id, { status: 'suspended' });
    expect(actionOf(hook, await call(hook, 'jane@good.com'))).toBe('review');
    expect(await unanswered(own, 1)).toMatchObject([{ code: 'account_suspended', answer: 'review' }]);
  });

  it('with a policy that was deleted meanwhile', async () => {
    const own = await house();
    await policy(own, 'short-lived', {});
    const hook = await hookOf(own, 'generic', { policy: 'short-lived' });
    await lab.store.policies.remove(own.member.account.id, 'short-lived', BY);
    expect(actionOf(hook, await call(hook, DISPOSABLE))).toBe('accept');
    expect(await unanswered(own, 1)).toMatchObject([{ code: 'policy_not_found', answer: 'accept' }]);
  });
});

describe('with a resolver that does not answer', () => {
  it('the policy’s on_outage is answered', async () => {
    const own = await house();
    await policy(own, 'closed', { onOutage: 'reject' });
    const hook = await hookOf(own, 'kratos', { policy: 'closed' });
    await lab.dns.pause('closed');
    const reply = await call(hook, 'new-name@resolver-is-down.com');
    await lab.dns.resume();
    expect(READ.kratos(reply)).toEqual({
      action: 'reject',
      message: 'This email address could not be checked. Try again later.',
    });
    expect(await unanswered(own, 1)).toMatchObject([{ code: 'verification_unavailable', answer: 'reject' }]);
    expect(await balanceOf(own)).toBe(1000);
  });
});

describe('the time limit of the caller', () => {
  it('is kept: what is not known half a second before follows on_outage; a further attempt gets the verdict', async () => {
    const live = await lab.member();
    const member = await lab.testMember(live);
    const admin = await signedIn(lab, { account: live.account, role: 'admin' });
    const own = { member, admin };
    await policy(own, 'late', { onOutage: 'review', timeoutMs: 30_000 });
    const hook = await hookOf(own, 'generic', { policy: 'late', timeout_ms: 1_500 });
    const at = Date.now();
    const began = performance.now();
    const reply = await call(hook, 'slow+20000@good.com', { id: 'slow', at });
    const tookMs = performance.now() - began;
    expect(actionOf(hook, reply)).toBe('review');
    expect(tookMs).toBeGreaterThan(1_500 - HOOK_MARGIN_MS - 50);
    expect(tookMs).toBeLessThan(1_500);
    expect(await unanswered(own, 1)).toMatchObject([{ code: 'hook_out_of_time', answer: 'review' }]);
    // What was known by then was recorded, and is what a further attempt finds.
    expect(actionOf(hook, await call(hook, 'slow+20000@good.com', { id: 'slow', at }))).toBe('accept');
    expect((await logOf(own)).entries).toMatchObject([{ email: 'slow+20000@good.com', via: 'generic' }]);
    expect(actionOf(hook, await call(hook, 'slow+200@good.com'))).toBe('accept');
  });

  it('is that of each attempt: one that comes while another is under way waits for its verdict', async () => {
    const live = await lab.member();
    const member = await lab.testMember(live);
    const own = { member, admin: await signedIn(lab, { account: live.account, role: 'admin' }) };
    const hook = await hookOf(own, 'generic');
    const at = Date.now();
    const both = await Promise.all([1, 2].map(() => call(hook, 'slow+1200@good.com', { id: 'twice', at })));
    expect(both.map((reply) => actionOf(hook, reply))).toEqual(['accept', 'accept']);
    expect((await logOf(own)).entries).toHaveLength(1);
    expect((await logOf(own, '?status=rejected')).rejected).toEqual([]);
  });
});

describe('a body', () => {
  it('is not waited for where its signature is missing or old', async () => {
    const own = await house();
    const hook = await hookOf(own, 'generic');
    for (const headers of [
      {},
      SIGNED.generic({ secret: hook.secret, body: '{}', id: 'old', at: Date.now() - 3_600_000 }),
    ]) {
      const raw = await openRaw(lab.url);
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      raw.socket.write(
        `POST ${hook.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n${lines.join('')}\r\n`,
      );
      await expect.poll(() => statusIn(raw.received()), SOON).toBe(401);
      raw.socket.destroy();
    }
  });

  it('that took all the time of its caller is not checked', async () => {
    const own = await house();
    const hook = await hookOf(own, 'generic', { timeout_ms: 1_000 });
    const body = JSON.stringify(SAMPLE_BODIES.generic(DISPOSABLE));
    const headers = SIGNED.generic({ secret: hook.secret, body, id: 'slow-body', at: Date.now() });
    const raw = await openRaw(lab.url);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    raw.socket.write(
      `POST ${hook.path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${lines.join('')}\r\n`,
    );
    await sleep(700);
    raw.socket.write(body);
    await expect.poll(() => statusIn(raw.received()), SOON).toBe(200);
    raw.socket.destroy();
    expect(await unanswered(own, 1)).toMatchObject([{ code: 'hook_out_of_time', answer: 'accept' }]);
    expect(await balanceOf(own)).toBe(1000);
  });

  it('that is signed, but no JSON, is told to the account', async () => {
    const own = await house();
    const hook = await hookOf(own, 'generic');
    const headers = SIGNED.generic({ secret: hook.secret, body: '{', id: 'broken', at: Date.now() });
    const reply = await request(lab.url, 'POST', hook.path, '{', headers);
    expect([reply.status, reply.json.code]).toEqual([400, 'invalid_json']);
    expect(await unanswered(own, 1)).toMatchObject([{ code: 'invalid_json', answer: null, key: { id: hook.id } }]);
  });
});

describe('WorkOS’s own code', () => {
  const { actions } = new WorkOS('sk_test_123456789');

  it('accepts the requests of these tests, and our replies', async () => {
    const own = await house();
    const hook = await hookOf(own, 'workos');
    const payload = SAMPLE_BODIES.workos('jane@good.com') as Record<string, unknown>;
    const at = Date.now();
    const headers = SIGNED.workos({ secret: hook.secret, body: JSON.stringify(payload), id: '', at });
    const sigHeader = headers['WorkOS-Signature'] ?? '';
    expect(await actions.constructAction({ payload, sigHeader, secret: hook.secret })).toMatchObject({
      object: 'user_registration_action_context',
      userData: { email: 'jane@good.com' },
    });
    for (const [email, verdict] of [
      ['jane@good.com', 'Allow'],
      [DISPOSABLE, 'Deny'],
    ] as const) {
      const { json } = await call(hook, email);
      expect(json).toMatchObject({ object: 'user_registration_action_response', payload: { verdict } });
      const { payload: answer, signature } = json;
      const signed = { payload: answer, sigHeader: `t=${answer.timestamp}, v1=${signature}`, secret: hook.secret };
      expect(await actions.verifyHeader(signed)).toBe(true);
      const theirs = await actions.signResponse(
        verdict === 'Allow'
          ? { type: 'user_registration', verdict }
          : { type: 'user_registration', verdict, errorMessage: answer.error_message },
        hook.secret,
      );
      expect(Object.keys(answer)).toEqual(Object.keys(theirs.payload));
      expect(Object.keys(json).sort()).toEqual(Object.keys(theirs).sort());
    }
  });
});

describe('the secret', () => {
  it('is shown once, and is in no list, log or audit log', async () => {
    const own = await house();
    const hook = await hookOf(own, 'supabase');
    expect(hook.secret).toMatch(/^v1,whsec_[0-9A-Za-z+/]{43}=$/);
    for (const path of ['/hooks', '/log', '/audit-log', '/audit-log.jsonl']) {
      const { status, text } = await own.admin.call('GET', of(own.member.account, path));
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toContain('whsec_');
    }
  });

  it('before a roll is accepted for its time, and refused at once where there is none', async () => {
    const own = await house();
    const hook = await hookOf(own, 'generic');
    const roll = async (body: object) =>
      (await own.admin.call('POST', of(own.member.account, `/hooks/${hook.id}/roll`), body)).json;
    const first = await roll({});
    expect(first.hook.previous_secret_until).not.toBe(null);
    expect(first.secret).not.toBe(hook.secret);
    for (const secret of [hook.secret, first.secret])
      expect((await call(hook, 'jane@good.com', { secret })).status).toBe(200);
    const second = await roll({ grace_seconds: 0 });
    expect(second.hook.previous_secret_until).toBe(null);
    for (const secret of [hook.secret, first.secret])
      expect((await call(hook, 'jane@good.com', { secret })).status).toBe(401);
    expect((await call(hook, 'jane@good.com', { secret: second.secret })).status).toBe(200);
  });

  it('of a caller that makes its own is asked for, and until then every call is refused', async () => {
    const own = await house();
    const made = await own.admin.call('POST', of(own.member.account, '/hooks'), {
      kind: 'workos',
      name: 'WorkOS',
      policy: 'signup',
    });
    const { id } = made.json.hook;
    const hook: LiveHook = { id, kind: 'workos', secret: '', path: `/hooks/${id}/workos` };
    expect((await call(hook, 'jane@good.com')).status).toBe(401);
    const roll = `/hooks/${id}/roll`;
    const missing = await own.admin.call('POST', of(own.member.account, roll), {});
    expect([missing.status, missing.json.code, missing.json.field]).toEqual([422, 'hook_secret_missing', 'secret']);
    const short = await own.admin.call('POST', of(own.member.account, roll), { secret: 'short' });
    expect([short.status, short.json.field]).toEqual([400, 'secret']);
  });
});

describe('hooks of an account', () => {
  it('are made, changed and deleted, with each change in the audit log; a deleted one refuses its calls', async () => {
    const own = await house();
    const hook = await hookOf(own, 'generic');
    await policy(own, 'mine', {});
    const at = of(own.member.account, `/hooks/${hook.id}`);
    const changed = await own.admin.call('PATCH', at, {
      name: 'Shop',
      policy: 'mine',
      rate_limit: 7,
      timeout_ms: 2_000,
    });
    expect(changed.json).toMatchObject({ name: 'Shop', policy: 'mine', rate_limit: 7, timeout_ms: 2_000 });
    expect((await own.admin.call('PATCH', at, { rate_limit: null })).json.rate_limit).toBe(null);
    expect((await own.admin.call('PATCH', at, {})).json.code).toBe('missing_parameter');
    expect((await own.admin.call('DELETE', at)).status).toBe(200);
    expect((await own.admin.call('DELETE', at)).status).toBe(404);
    expect((await call(hook, 'jane@good.com')).status).toBe(401);
    const { entries } = (await own.admin.call('GET', of(own.member.account, '/audit-log'))).json;
    expect(
      entries.map(({ action }: { action: string }) => action).filter((action: string) => /^hook/.test(action)),
    ).toEqual(['hook.deleted', 'hook.changed', 'hook.changed', 'hook.created']);
  });

  it('with a scope reject a mailbox that was seen before, in any spelling, where the policy says so', async () => {
    const own = await house();
    await policy(own, 'once', { signals: { ...NO_RULES.signals, seen_before: 'reject' } });
    const hook = await hookOf(own, 'supabase', { policy: 'once', scope: 'trial' });
    const at = Date.now();
    const signUps = [
      await call(hook, 'jane@good.com', { id: 'seen-1', at }),
      await call(hook, 'jane@good.com', { id: 'seen-1', at }),
      await call(hook, 'Jane@GOOD.com', { id: 'seen-2' }),
    ];
    // The second one is a further attempt at the first.
    expect(signUps.map((reply) => actionOf(hook, reply))).toEqual(['accept', 'accept', 'reject']);
    const path = of(own.member.account, `/hooks/${hook.id}`);
    expect((await own.admin.call('PATCH', path, { scope: null })).json.scope).toBe(null);
    expect(actionOf(hook, await call(hook, 'jane@good.com', { id: 'seen-3' }))).toBe('accept');
    const wrong = await own.admin.call('PATCH', path, { scope: 'Not A Scope' });
    expect([wrong.status, wrong.json.field]).toEqual([400, 'scope']);
  });

  it('need a policy that there is', async () => {
    const { member, admin } = await house();
    const made = await admin.call('POST', of(member.account, '/hooks'), { kind: 'generic', name: 'x', policy: 'none' });
    expect([made.status, made.json.code, made.json.field]).toEqual([422, 'policy_not_found', 'policy']);
  });

  it('are bounded in number', async () => {
    const own = await house();
    for (let n = 0; n < HOOKS_MAX; n++) await hookOf(own, 'generic');
    const more = await own.admin.call('POST', of(own.member.account, '/hooks'), {
      kind: 'generic',
      name: 'one more',
      policy: 'signup',
    });
    expect([more.status, more.json.code]).toEqual([422, 'too_many_hooks']);
  });

  it('are not seen by others, and not changed by members', async () => {
    const own = await house();
    const hook = await hookOf(own, 'generic');
    const stranger = await house();
    const at = of(stranger.member.account, `/hooks/${hook.id}`);
    expect((await stranger.admin.call('PATCH', at, { name: 'mine now' })).status).toBe(404);
    expect((await stranger.admin.call('DELETE', at)).status).toBe(404);
    expect((await stranger.admin.call('POST', `${at}/roll`, {})).status).toBe(404);
    expect((await stranger.admin.call('GET', of(stranger.member.account, '/hooks'))).json.hooks).toEqual([]);
    expect(actionOf(hook, await call(hook, 'jane@good.com'))).toBe('accept');
  });
});
