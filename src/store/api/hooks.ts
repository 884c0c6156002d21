import type { HookKind } from '../../kernel/facts/hooks.ts';
import type { Plan } from '../../kernel/facts/plans.ts';
import type { AccountId, Actor } from './accounts.ts';

export interface HookSettings {
  readonly name: string;
  /** Of the account, by name. */
  readonly policy: string;
  /** In which mailboxes are remembered; null: they are not. */
  readonly scope: string | null;
  /** How long the caller waits. */
  readonly timeoutMs: number;
  /** Calls in a rate window; null: half of the account's. */
  readonly rateLimit: number | null;
}

/** A hook, without its secrets. */
export interface Hook extends HookSettings {
  readonly id: string;
  readonly accountId: AccountId;
  readonly kind: HookKind;
  /** False: its caller's secret is not known yet, so that every call is refused. */
  readonly hasSecret: boolean;
  /** Until when the secret before the last roll is accepted; null: it is not, or no longer. */
  readonly previousSecretUntil: number | null;
  readonly createdAt: number;
  /** Of a call whose signature fitted; within a minute. */
  readonly lastUsedAt: number | null;
}

/** What a call needs to know. */
export interface CalledHook extends Hook {
  /** Those that are accepted, by the clock of the store; the newest first. */
  readonly secrets: readonly string[];
  readonly plan: Plan;
  readonly suspended: boolean;
  /** Whether its account is one of test mode. */
  readonly test: boolean;
  /** Of its account. */
  readonly requestsPerWindow: number;
}

export interface Hooks {
  /** Throws ApiError('too_many_hooks'). */
  create(
    account: AccountId,
    input: HookSettings & { readonly kind: HookKind; readonly secret: string | null },
    by: Actor,
  ): Promise<Hook>;
  /** Oldest first. */
  list(account: AccountId): Promise<Hook[]>;
  get(account: AccountId, id: string): Promise<Hook | null>;
  update(account: AccountId, id: string, change: Partial<HookSettings>, by: Actor): Promise<Hook | null>;
  /** From now on `secret` is accepted, and the one before for `graceMs` more. */
  roll(account: AccountId, id: string, secret: string, graceMs: number, by: Actor): Promise<Hook | null>;
  remove(account: AccountId, id: string, by: Actor): Promise<boolean>;
  /** Whatever account it is of; null where that was deleted. */
  find(id: string): Promise<CalledHook | null>;
  /** Calls of these came whose signature fitted. */
  used(ids: readonly string[]): Promise<void>;
}
