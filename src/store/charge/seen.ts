/**
 * Which mailboxes an account has seen in a scope, inside the charge. An address is known by its HMAC under a secret of
 * the account, so that a copy of the table names nobody, and the rows of two accounts do not match.
 */
import { toIso } from '../../kernel/clock.ts';
import { termsOf } from '../../kernel/facts/plans.ts';
import { hmacSha256, randomBytes } from '../../kernel/ids.ts';
import type { Sighting, VerificationRecord } from '../store.ts';
import type { AccountState, Changes, ChargeState, SeenOwner, SeenState } from './state.ts';

/** Makes 32 random bytes in base64. */
export const newSecret = (): string => randomBytes(32).toString('base64');

export const seenId = (accountId: string, mailbox: string, scope: string): string =>
  `${accountId}\n${mailbox}\n${scope}`;

export const hashedMailbox = ({ secret }: Pick<SeenOwner, 'secret'>, mailbox: string): string =>
  hmacSha256(secret, mailbox);

/** Never equal to that of a mailbox, which has something before its `@`. */
export const hashedDomain = ({ secret }: Pick<SeenOwner, 'secret'>, domain: string): string =>
  hmacSha256(secret, `@${domain}`);

/** Never equals that of a mailbox: no address begins with a blank. */
const hashedSpelling = ({ secret }: SeenOwner, spelling: string): string => hmacSha256(secret, ` ${spelling}`);

const seenOwnerOf = (state: ChargeState, changes: Changes, account: AccountState): SeenOwner | null =>
  changes.seenOwners.get(account.id) ?? state.seenOwner(account.id);

function seenRow(
  state: ChargeState,
  changes: Changes,
  { accountId }: SeenOwner,
  mailbox: string,
  scope: string,
): SeenState | null {
  return changes.seen.get(seenId(accountId, mailbox, scope)) ?? state.seen(accountId, mailbox, scope);
}

/**
 * The most mailboxes that the account may remember, if it remembers as many and this would be a further one; else null.
 * Checks that were admitted before may still add theirs.
 */
export function mailboxesLimit(
  state: ChargeState,
  changes: Changes,
  account: AccountState,
  { mailbox, scope }: Sighting,
): number | null {
  const limit = termsOf(state.plans, account.plan).mailboxes;
  const owner = seenOwnerOf(state, changes, account);
  if (owner === null || owner.mailboxes < limit) return null;
  return seenRow(state, changes, owner, hashedMailbox(owner, mailbox), scope) === null ? limit : null;
}

/** What is known of a sighting, and what is to be known once its record is written. */
interface RememberedSighting {
  readonly owner: SeenOwner;
  readonly before: SeenState | null;
  readonly row: SeenState;
  /** Whether it was spelled the same the first time; false where this is it. */
  readonly sameSpelling: boolean;
}

/** Changes nothing. */
export function recall(
  state: ChargeState,
  changes: Changes,
  account: AccountState,
  { mailbox, scope, spelling }: Sighting,
): RememberedSighting {
  const { now } = state;
  const owner = seenOwnerOf(state, changes, account) ?? { accountId: account.id, secret: newSecret(), mailboxes: 0 };
  const hashed = { mailbox: hashedMailbox(owner, mailbox), spelling: hashedSpelling(owner, spelling) };
  const before = seenRow(state, changes, owner, hashed.mailbox, scope);
  // The first spelling counts, whatever came since: a second one does not become the usual one by being repeated.
  const first = before ?? { accountId: account.id, scope, ...hashed, count: 0, firstAt: now };
  const sameSpelling = before?.spelling === hashed.spelling;
  return { owner, before, row: { ...first, count: first.count + 1, lastAt: now }, sameSpelling };
}

export function remember(changes: Changes, { owner, before, row }: RememberedSighting): void {
  const { accountId, mailbox, scope } = row;
  changes.seen.set(seenId(accountId, mailbox, scope), row);
  if (before === null) changes.seenOwners.set(accountId, { ...owner, mailboxes: owner.mailboxes + 1 });
}

/** The record with what only this transaction knows: the field `seen` of its reply, and what a policy makes of it. */
export function withSeen(
  record: VerificationRecord,
  { before, row, sameSpelling }: RememberedSighting,
): VerificationRecord {
  const { count, firstAt } = row;
  const seen = { before: before !== null, count, first_at: toIso(firstAt), same_spelling: sameSpelling };
  const { decisionIfSeen: decision = null } = record;
  const reply = { ...JSON.parse(record.body), seen };
  if (before === null || decision === null) return { ...record, body: JSON.stringify(reply) };
  return { ...record, decision: decision.action, body: JSON.stringify({ ...reply, decision }) };
}
