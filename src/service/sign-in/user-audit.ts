import { LRUCache } from 'lru-cache';
import type { Factor, UserAction } from '../../kernel/audit-actions.ts';
import { type Clock, HOUR_MS } from '../../kernel/clock.ts';
import { ApiError, type ErrorCode } from '../../kernel/errors.ts';
import type { Store, UserChange, UserEvent } from '../../store/store.ts';
import { deviceName } from './devices.ts';
import type { BrowserRequest } from './library-calls.ts';

/** Where from, as far as it is known. */
export type From = Pick<BrowserRequest, 'ip'> & { readonly userAgent?: string | undefined };

interface Attempt {
  readonly user: UserEvent['user'];
  /** `anonymous` means not signed in. */
  readonly by: 'self' | 'anonymous';
  readonly from: From;
  readonly factor: Factor;
}

/** Writes what users do to the audit log of their accounts. */
export interface UserAudit {
  /** Writes in the transaction of the change. */
  record(
    change: Pick<UserChange, 'record'>,
    from: From,
    action: UserAction,
    detail?: Readonly<Record<string, unknown>>,
  ): Promise<void>;
  /**
   * Runs `work`, and counts its failure. Failures are written by `flush`, so that the time of a reply does not reveal
   * whether an address has a user, and so that a flood of attempts costs few writes.
   */
  attempt<T>(attempt: Attempt, work: () => Promise<T>): Promise<T>;
  /** Counts a failure of somebody who is not signed in, with what is known of it. */
  refused(user: UserEvent['user'], from: From, detail: Readonly<Record<string, unknown>>): void;
  /** Writes the failures so far. If the store fails, the next call writes them. */
  flush(): Promise<void>;
}

/** Begins a session, and records that in the same transaction. */
export const recordedSignIn = <T>(
  { signIns, audit }: { signIns: Pick<Store['signIns'], 'change'>; audit: Pick<UserAudit, 'record'> },
  { browser, user, factor }: { browser: From; user: string; factor: Factor },
  begin: () => Promise<T>,
): Promise<T> =>
  signIns.change({ user }, async (change) => {
    const begun = await begin();
    await audit.record(change, browser, 'user.signed_in', { factor });
    return begun;
  });

/** Distinct failures between two flushes; further ones are not recorded. */
const PENDING_MAX = 512;
/** Users and addresses whose attempts were refused by a limit in the current hour: recorded once. */
const BLOCKED_MAX = 8_192;

const ACTION_OF: Readonly<Partial<Record<ErrorCode, UserAction>>> = {
  sign_in_failed: 'user.authentication_failed',
  second_factor_failed: 'user.authentication_failed',
  wrong_password: 'user.authentication_failed',
  wrong_code: 'user.authentication_failed',
  rate_limit_exceeded: 'user.authentication_blocked',
};

export function createUserAudit(auditLog: Store['auditLog'], clock: Clock): UserAudit {
  let pending = new Map<string, Required<UserEvent>>();
  // It is created at the first refusal (docs/architecture.md#what-v8-does).
  let blocked: LRUCache<string, number> | null = null;

  const detailOf = (from: From, more: Readonly<Record<string, unknown>>) => ({
    ...more,
    device: deviceName(from.userAgent),
  });

  function add(event: Required<UserEvent>): void {
    const key = JSON.stringify([event.user, event.by, event.action, event.detail]);
    const before = pending.get(key);
    if (before === undefined && pending.size >= PENDING_MAX) return;
    pending.set(key, { ...event, count: event.count + (before?.count ?? 0) });
  }

  function isFirstThisHour(user: UserEvent['user']): boolean {
    const key = JSON.stringify(user);
    const hour = Math.floor(clock.now() / HOUR_MS);
    blocked ??= new LRUCache({ max: BLOCKED_MAX });
    if (blocked.get(key) === hour) return false;
    blocked.set(key, hour);
    return true;
  }

  return {
    record: (change, from, action, detail = {}) =>
      change.record({ by: { kind: 'self', ip: from.ip }, action, detail: detailOf(from, detail) }),

    async attempt({ user, by, from, factor }, work) {
      try {
        return await work();
      } catch (error) {
        const action = error instanceof ApiError ? ACTION_OF[error.code] : undefined;
        if (action !== undefined && (action !== 'user.authentication_blocked' || isFirstThisHour(user)))
          add({ user, by: { kind: by, ip: from.ip }, action, detail: detailOf(from, { factor }), count: 1 });
        throw error;
      }
    },

    refused(user, from, detail) {
      const action = 'user.authentication_failed';
      add({ user, by: { kind: 'anonymous', ip: from.ip }, action, detail: detailOf(from, detail), count: 1 });
    },

    async flush() {
      const writing = [...pending.values()];
      pending = new Map();
      for (let next = writing.shift(); next !== undefined; next = writing.shift()) {
        try {
          await auditLog.recordUserEvent(next);
        } catch (error) {
          for (const event of [next, ...writing]) add(event);
          throw error;
        }
      }
    },
  };
}
