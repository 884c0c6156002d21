/** Hooks of auth servers: how an account keeps them, and what a call of one is answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { within } from '../kernel/bounded-wait.ts';
import type { Clock } from '../kernel/clock.ts';
import { ApiError, toApiError } from '../kernel/errors.ts';
import { given } from '../kernel/facts/given.ts';
import { HOOK_FACTS, type HookKind } from '../kernel/facts/hooks.ts';
import { HOOK_MARGIN_MS } from '../kernel/facts/limits.ts';
import { WINDOW_SECONDS } from '../kernel/facts/plans.ts';
import { type Decision, decideOutage, NO_RULES, type Policy } from '../kernel/facts/policies.ts';
import { newWebhookSecret, sha256Hex } from '../kernel/ids.ts';
import { WindowCounts } from '../kernel/windows.ts';
import type {
  AccountId,
  Actor,
  CalledHook,
  Caller,
  Hook,
  HookSettings,
  IdempotencyRef,
  Store,
} from '../store/store.ts';
import { parseKeyName } from './names.ts';
import type { PolicyService } from './policies.ts';
import type { VerifyService } from './verify.ts';

export type { CalledHook, Hook };

/** Who wants to sign up, as far as the caller says. */
export interface SignUp {
  /** Null where there is none: the user signs up by phone, for example. */
  readonly email: string | null;
  /** The address is canonical. */
  readonly ip: string | null;
  /** Chooses the language of the message: a tag, or the value of an Accept-Language header. */
  readonly language: string | null;
  /** What all attempts at one event have in common; null: the body has no such thing. */
  readonly eventId: string | null;
}

interface HookCall {
  readonly hook: CalledHook;
  readonly signUp: SignUp;
  /** The same for all attempts at one event; null: an attempt cannot be distinguished from another event. */
  readonly event: string | null;
  /** The caller's address is canonical. */
  readonly ip: string;
  /** The call arrived at this time of `Clock.elapsed()`. */
  readonly began: number;
  /** Whether the client has disconnected. */
  readonly hasDisconnected: () => boolean;
}

interface HookOutcome {
  readonly answer: Decision;
  readonly caller: Caller;
  /** Why there is no verdict; null: there is one. */
  readonly cause: ApiError | null;
}

/** `secret` is shown only now; null: the caller makes it. */
export interface HookWithSecret {
  readonly hook: Hook;
  readonly secret: string | null;
}

interface HookServiceParts {
  readonly store: Pick<Store, 'hooks' | 'idempotency'>;
  readonly policies: Pick<PolicyService, 'named'>;
  readonly verify: Pick<VerifyService, 'verify'>;
  readonly clock: Clock;
  /** Whether hooks may have a scope. */
  readonly remembersMailboxes: boolean;
}

/** What a process has last seen of a hook, for as long as the store does not answer. */
interface SeenCall {
  readonly hook: CalledHook;
  readonly policy: Policy | null;
}
const SEEN_MAX = 1_000;
/** The store is not waited for longer to say what a hook is, ms. */
const LOOK_UP_MS = 1_000;
/** Hooks whose calls are counted, those called last. */
const COUNTED_MAX = 10_000;
/** How often an attempt at an event looks for the verdict of an earlier one that is still under way, ms. */
const LOOK_AGAIN_MS = 100;

/** Calls of one event share a key; the body is a part of it, so that no other event can be mistaken for it. */
const callIdempotency = ({ hook, event }: Pick<HookCall, 'hook' | 'event'>): IdempotencyRef | null =>
  event === null ? null : { route: 'POST /hooks', key: sha256Hex(`${hook.id}\n${event}`), fingerprint: hook.id };

const newHookSecret = (kind: HookKind): string =>
  // As its settings take it: the version of the signature comes first.
  kind === 'supabase' ? `v1,${newWebhookSecret()}` : newWebhookSecret();

const noHook = () => new ApiError('not_found', 'There is no such hook in this account.');

/** Methods that change something throw ApiError: `not_found` for what is another account's as well. */
export function createHookService({ store, policies, verify, clock, remembersMailboxes }: HookServiceParts) {
  const { hooks } = store;
  const seen = new LRUCache<string, SeenCall>({ max: SEEN_MAX });
  const calls = new WindowCounts(WINDOW_SECONDS * 1000, COUNTED_MAX);
  let used = new Set<string>();

  /** The verdict of an earlier attempt at the same event, once it is there. */
  async function earlier(account: AccountId, ref: IdempotencyRef, signal: AbortSignal): Promise<string> {
    for (;;) {
      await sleep(LOOK_AGAIN_MS, undefined, { signal });
      const stored = await store.idempotency.find(account, ref);
      if (stored !== null) return stored.body;
    }
  }

  async function decisionOf(call: HookCall, email: string, policy: Policy, signal: AbortSignal): Promise<Decision> {
    const { hook, signUp, ip, hasDisconnected } = call;
    const idempotency = callIdempotency(call);
    const outcome = await verify.verify({
      keyHash: { account: hook.accountId, hook: hook.id },
      test: hook.test,
      ip,
      idempotency,
      email,
      hasDisconnected,
      level: policy.level,
      timeoutMs: policy.timeoutMs,
      clientIp: signUp.ip ?? ip,
      withEvidence: false,
      via: hook.kind,
      policy,
      language: signUp.language,
      // Turned off meanwhile, the memory says nothing; that is no reason to let everybody in without a verdict.
      scope: remembersMailboxes ? hook.scope : null,
      // At the end of the time, what is known so far is recorded and charged: a further attempt finds it.
      signal: () => signal,
    });
    switch (outcome.outcome) {
      case 'answered':
        return decisionIn(outcome.record.body);
      case 'replay':
        return decisionIn(outcome.reply.body);
      case 'failed':
        throw outcome.error;
      case 'refused':
        if (outcome.code === 'idempotency_in_progress' && idempotency !== null)
          return decisionIn(await earlier(hook.accountId, idempotency, signal));
        throw new ApiError(outcome.code);
    }
  }

  function admit({ id, rateLimit, requestsPerWindow, suspended }: CalledHook): void {
    if (suspended) throw new ApiError('account_suspended');
    const max = rateLimit ?? Math.ceil(requestsPerWindow / 2);
    if (!calls.take([{ key: id, max }], clock.now()))
      throw new ApiError('rate_limit_exceeded', 'The limit of the hook is used up.', { limit: max });
  }

  /** Throws ApiError where the store does not say in time. */
  async function policyOf(hook: CalledHook, signal: AbortSignal): Promise<Policy> {
    const policy = await within({ signals: [signal], late: callerOutOfTime }, () =>
      policies.named(hook.accountId, hook.policy),
    );
    seen.set(hook.id, { hook, policy });
    return policy;
  }

  function refuseScope(scope: string | null | undefined): void {
    if (typeof scope === 'string' && !remembersMailboxes)
      throw new ApiError('seen_disabled', undefined, { field: 'scope' });
  }

  function secretFor(kind: HookKind, sent: string | undefined): string {
    if (HOOK_FACTS[kind].secretOf === 'us') return newHookSecret(kind);
    if (sent === undefined) throw new ApiError('hook_secret_missing', undefined, { field: 'secret' });
    return sent;
  }

  return {
    /** The oldest comes first. */
    list: (account: AccountId) => hooks.list(account),

    /** Throws ApiError: `policy_not_found`, `seen_disabled`, `too_many_hooks`. */
    async create(account: AccountId, { kind, ...settings }: HookSettings & { readonly kind: HookKind }, by: Actor) {
      refuseScope(settings.scope);
      await policies.named(account, settings.policy);
      const secret = HOOK_FACTS[kind].secretOf === 'us' ? newHookSecret(kind) : null;
      const input = { ...settings, name: parseKeyName(settings.name), kind, secret };
      return { hook: await hooks.create(account, input, by), secret };
    },

    async change(account: AccountId, id: string, { name, policy, ...rest }: Partial<HookSettings>, by: Actor) {
      refuseScope(rest.scope);
      if (policy !== undefined) await policies.named(account, policy);
      const change = { ...rest, ...given({ name: name === undefined ? undefined : parseKeyName(name), policy }) };
      const hook = await hooks.update(account, id, change, by);
      if (hook === null) throw noHook();
      return hook;
    },

    /** `secret`: that of the caller, where it makes it. Throws ApiError: `hook_secret_missing`. */
    async roll(
      account: AccountId,
      id: string,
      { secret: sent, graceMs }: { readonly secret?: string | undefined; readonly graceMs: number },
      by: Actor,
    ) {
      const hook = await hooks.get(account, id);
      if (hook === null) throw noHook();
      const secret = secretFor(hook.kind, sent);
      const rolled = await hooks.roll(account, id, secret, graceMs, by);
      if (rolled === null) throw noHook();
      return { hook: rolled, secret: HOOK_FACTS[hook.kind].secretOf === 'us' ? secret : null };
    },

    async remove(account: AccountId, id: string, by: Actor) {
      if (!(await hooks.remove(account, id, by))) throw noHook();
    },

    /**
     * The hook that is called, of whatever account; null where there is none. While the store does not answer, as it
     * was last seen by this process; throws ApiError `verification_unavailable` where it was not.
     */
    async called(id: string) {
      const last = seen.get(id);
      try {
        const hook = await within({ ms: LOOK_UP_MS }, () => hooks.find(id));
        if (hook === null) seen.delete(id);
        else seen.set(id, { hook, policy: last?.policy ?? null });
        return hook;
      } catch (error) {
        if (last !== undefined) return last.hook;
        throw hookUnavailable(error);
      }
    },

    /** Never rejects, and answers in time, whatever becomes of the check. To be called once a signature fits. */
    async answer(call: HookCall): Promise<HookOutcome> {
      const { hook, signUp, began } = call;
      const { email } = signUp;
      const { accountId, id: keyId, plan, test } = hook;
      const caller: Caller = { accountId, keyId, plan, test };
      used.add(hook.id);
      if (email === null)
        return {
          caller,
          answer: { action: 'accept', because: [], message: null },
          cause: new ApiError('hook_without_address'),
        };
      const leftMs = began + hook.timeoutMs - HOOK_MARGIN_MS - clock.elapsed();
      // Whose body took all the time is not checked.
      const signal = leftMs < 1 ? AbortSignal.abort() : AbortSignal.timeout(Math.floor(leftMs));
      try {
        const policy = await policyOf(hook, signal);
        admit(hook);
        const answer = await within({ signals: [signal], late: callerOutOfTime }, () =>
          decisionOf(call, email, policy, signal),
        );
        return { caller, answer, cause: null };
      } catch (error) {
        const policy = seen.get(hook.id)?.policy ?? NO_RULES;
        return { caller, answer: decideOutage(policy, signUp.language), cause: toApiError(error) };
      }
    },

    /** Writes which hooks were used. If the store fails, the next call writes the rest. */
    async flush() {
      if (used.size === 0) return;
      const ids = used;
      used = new Set();
      try {
        await hooks.used([...ids]);
      } catch (error) {
        for (const id of ids) used.add(id);
        throw error;
      }
    },
  };
}

export type HookService = ReturnType<typeof createHookService>;

/** Of a reply, which has one wherever its request named a policy. */
function decisionIn(body: string): Decision {
  const { decision }: { readonly decision: Decision | null } = JSON.parse(body);
  if (decision === null) throw new TypeError('A verdict by a policy has a decision.');
  return decision;
}

function callerOutOfTime(): never {
  throw new ApiError('hook_out_of_time');
}
const hookUnavailable = (cause?: unknown) =>
  new ApiError('verification_unavailable', 'The hook could not be looked up.', { retry_after: 5 }, cause);
