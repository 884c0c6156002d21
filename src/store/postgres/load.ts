/** A batch reads with pipelined statements after the lock on its accounts. */

import type pg from 'pg';
import type { Plans } from '../../kernel/facts/plans.ts';
import { idempotencyId } from '../charge/apply-batch.ts';
import { hashedMailbox, seenId } from '../charge/seen.ts';
import type {
  AccountState,
  ChargeRequest,
  ChargeState,
  HoldState,
  IdempotencyState,
  KeyState,
  SeenOwner,
  SeenState,
} from '../charge/state.ts';
import {
  accountState,
  filterState,
  holdState,
  idempotencyState,
  keyState,
  REPLY_KEY,
  rowMaker,
  SEEN_KEY,
  seenOwner,
  seenState,
  textColumn,
} from '../columns.ts';
import { candidatesOf, type FilterKind, filterLookups } from '../filter-kinds.ts';
import { assertCompatible, SCHEMA, type SchemaState } from '../migrations.ts';
import { onlyRow } from '../rows.ts';
import type { AdmissionRequest, CompletedReply, FilterRule, IdempotencyRef, Settlement, Sighting } from '../store.ts';
import { arraysOf, unnest } from './write.ts';

/**
 * The lock comes first, in a statement of its own, so that the others read what its last holder committed. All writers
 * lock accounts in the order of their ids, so any number of nodes cannot deadlock. The ids are an array that is made
 * before the scan: joined to a sub-select, an account that changes while its lock is waited for would be judged again
 * against the join and could go missing.
 */
const SELECT_ACCOUNTS = `SELECT ${accountState('accounts')}, rules
  FROM accounts
  WHERE id = ANY (ARRAY(SELECT account_id FROM keys WHERE hash = ANY ($1::text[])) || $2::text[])
  ORDER BY id FOR NO KEY UPDATE`;
/** Those that another session has locked are left out. */
const LOCK_FREE = `${SELECT_ACCOUNTS} SKIP LOCKED`;
const LOCK_ACCOUNTS = `SELECT id FROM accounts
  WHERE id = ANY (ARRAY(SELECT account_id FROM keys WHERE hash = ANY ($1::text[])) || $2::text[])`;
const TIME = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
  pg_current_xact_id()::text AS xid, schema.* FROM (${SCHEMA}) AS schema`;
const KEY_ROWS = `SELECT ${keyState('keys')}, hash FROM keys`;
const SELECT_KEYS = `${KEY_ROWS} WHERE hash = ANY ($1::text[])`;
const KEYS_BY_ID = `${KEY_ROWS} WHERE id = ANY ($1::text[])`;
const HOLDS_BY_ID = `SELECT ${holdState('holds')} FROM holds WHERE id = ANY ($1::text[])`;
const RECORDED = 'SELECT id, body, decision FROM verifications WHERE id = ANY ($1::text[])';
/** The same of a caller whose account only its key tells. */
const REPLY_OF_KEY = rowMaker<Pick<IdempotencyRef, 'route' | 'key'> & { readonly hash: string }>({
  hash: textColumn(({ hash }) => hash),
  route: textColumn(({ route }) => route),
  key: textColumn(({ key }) => key),
});
const SELECT_IDEMPOTENCY = `SELECT ${idempotencyState('idempotency')}
  FROM idempotency JOIN ${unnest(REPLY_KEY)} USING (${REPLY_KEY.columns.join(', ')})`;
const IDEMPOTENCY_OF_KEYS = `SELECT ${idempotencyState('idempotency')}
  FROM ${unnest(REPLY_OF_KEY)} JOIN keys k USING (hash)
    JOIN idempotency ON idempotency.account_id = k.account_id AND idempotency.route = c.route AND idempotency.key = c.key`;
const SEEN_OWNERS = `SELECT ${seenOwner('s')} FROM seen_secrets s
  WHERE account_id = ANY (ARRAY(SELECT account_id FROM keys WHERE hash = ANY ($1::text[])) || $2::text[])`;
const SELECT_SEEN = `SELECT ${seenState('s')} FROM ${unnest(SEEN_KEY)} JOIN seen s USING (${SEEN_KEY.columns.join(', ')})`;
/** What a filter that could match a request would be found by. */
interface FilterValue {
  readonly accountId: string;
  readonly kind: FilterKind;
  readonly value: string;
}
export const FILTER_VALUE = rowMaker<FilterValue>({
  account_id: textColumn(({ accountId }) => accountId),
  filter_type: textColumn(({ kind }) => kind),
  value: textColumn(({ value }) => value),
});
const SELECT_FILTERS = `SELECT f.account_id AS "accountId", ${filterState('f')}
  FROM ${unnest(FILTER_VALUE)}
  JOIN filters f USING (account_id, filter_type, value)`;

/** PostgreSQL keeps more of an account. */
export interface StoredAccount extends AccountState {
  /** Stands for everything that requests are judged by, apart from the counters (migration 0015). */
  readonly rules: number;
}
export interface StoredKey extends KeyState {
  readonly hash: string;
}

export interface LoadedBatch {
  readonly state: ChargeState;
  readonly accounts: readonly StoredAccount[];
  /** These have the hashes that were given. */
  readonly keys: readonly StoredKey[];
  /** The time is by the server's clock, in ms. */
  readonly serverTime: number;
  /** Names the transaction, for `pg_xact_status`. */
  readonly xid: string;
  /** Whether the account of the request is locked by another session; never without `skipLocked`. */
  readonly isHeld: (request: ChargeRequest) => boolean;
}

type RunQuery = <T extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) => Promise<T[]>;

const byId = <T>(rows: readonly T[], id: (row: T) => string): Map<string, T> =>
  new Map(rows.map((row) => [id(row), row]));
const uniqueValues = (values: readonly string[]): string[] => [...new Set(values)];

/**
 * Begins the transaction, locks and reads. `clock`: the time to go by instead of the server's. `skipLocked`: go on
 * without the accounts that others have locked. `known`: the schema version of this program; throws StoreVersionError
 * where it is too old.
 */
export async function loadBatch(
  client: pg.Client,
  requests: readonly ChargeRequest[],
  {
    node,
    plans,
    clock,
    known,
    skipLocked,
  }: { node: string; plans: Plans; clock: (() => number) | null; known: number; skipLocked: boolean },
): Promise<LoadedBatch> {
  const query: RunQuery = async (name, text, values) => (await client.query({ name, text, values })).rows;
  const admits = requests.flatMap((request) => (request.kind === 'admit' ? [request.admit] : []));
  const settles = requests.flatMap((request) => (request.kind === 'settle' ? [request.settle] : []));
  const hashes = uniqueValues(admits.flatMap(({ keyHash }) => (typeof keyHash === 'string' ? [keyHash] : [])));
  const named = admits.flatMap(({ keyHash }) => (typeof keyHash === 'string' ? [] : [keyHash.account]));
  const accountIds = uniqueValues([...named, ...settles.map((settle) => settle.caller.accountId)]);
  const keyIds = uniqueValues(settles.map((settle) => settle.caller.keyId));
  const holdIds = settles.map((settle) => settle.holdId);
  const recordIds = settles.flatMap((settle) => (settle.record === null ? [] : [settle.record.id]));

  const [lock, sql] = skipLocked ? ['lock-free', LOCK_FREE] : ['lock', SELECT_ACCOUNTS];
  const sightings = sightingsOf(admits, settles);
  const [, accounts, all, time, keys, holders, holds, recorded, idempotency, ofKeys, owners] = await pipelined([
    client.query('BEGIN ISOLATION LEVEL READ COMMITTED'),
    query<StoredAccount & pg.QueryResultRow>(lock, sql, [hashes, accountIds]),
    skipLocked ? query<{ id: string }>('all', LOCK_ACCOUNTS, [hashes, accountIds]) : [],
    query<{ now: number; xid: string } & SchemaState>('time', TIME, []),
    hashes.length === 0 ? [] : query<StoredKey & pg.QueryResultRow>('keys', SELECT_KEYS, [hashes]),
    keyIds.length === 0 ? [] : query<StoredKey & pg.QueryResultRow>('keys-by-id', KEYS_BY_ID, [keyIds]),
    holdIds.length === 0 ? [] : query<HoldState & pg.QueryResultRow>('holds', HOLDS_BY_ID, [holdIds]),
    recordIds.length === 0 ? [] : query<CompletedReply & { id: string }>('recorded', RECORDED, [recordIds]),
    loadIdempotency(query, admits, settles),
    loadIdempotencyOfKeys(query, admits),
    loadSeenOwners(query, sightings),
  ]);
  assertCompatible(onlyRow(time), known);
  const accountById = byId(accounts, (account) => account.id);
  const keyById = byId([...holders, ...keys], (key) => key.id);
  // One object for each key, as its budget changes in memory.
  const keyByHash = byId([...keyById.values()], (key) => key.hash);
  const holdById = byId(holds, (hold) => hold.id);
  const replyById = byId(recorded, (row) => row.id);
  const replies = byId([...idempotency, ...ofKeys], (row) => idempotencyId(row.accountId, row));
  const ownerById = byId(owners, (owner) => owner.accountId);
  const [filters, seen] = await pipelined([
    loadFilters(query, admits, keyByHash, accountById),
    loadSeen(query, sightings, keyByHash, ownerById),
  ]);

  const state: ChargeState = {
    now: clock?.() ?? onlyRow(time).now,
    node,
    plans,
    key: (hash) => keyByHash.get(hash) ?? null,
    keyById: (id) => keyById.get(id) ?? null,
    account: (id) => accountById.get(id) ?? null,
    hold: (id) => holdById.get(id) ?? null,
    recorded: (id) => replyById.get(id) ?? null,
    idempotency: (accountId, route, key) => replies.get(idempotencyId(accountId, { route, key })) ?? null,
    filters: (accountId, lookup) =>
      candidatesOf(lookup).flatMap(([kind, value]) => filters.get(filterId(accountId, kind, value)) ?? []),
    seenOwner: (accountId) => ownerById.get(accountId) ?? null,
    seen: (accountId, mailbox, scope) => seen.get(seenId(accountId, mailbox, scope)) ?? null,
  };
  const held = new Set(all.filter(({ id }) => !accountById.has(id)).map(({ id }) => id));
  const accountOf = (request: ChargeRequest): string | undefined => {
    if (request.kind === 'settle') return request.settle.caller.accountId;
    const { keyHash } = request.admit;
    return typeof keyHash === 'string' ? keyByHash.get(keyHash)?.accountId : keyHash.account;
  };
  const isHeld = (request: ChargeRequest) => held.size > 0 && held.has(accountOf(request) ?? '');
  const { now: serverTime, xid } = onlyRow(time);
  return { state, accounts, keys: [...keyByHash.values()], serverTime, xid, isHeld };
}

/** Waits for all statements, then throws the first failure in order: later ones are consequences. */
export async function pipelined<T extends readonly unknown[] | []>(
  sent: T,
): Promise<{ -readonly [P in keyof T]: Awaited<T[P]> }> {
  await Promise.allSettled(sent);
  return Promise.all(sent);
}

type StoredIdempotency = IdempotencyState & pg.QueryResultRow;

function loadIdempotency(
  query: RunQuery,
  admits: readonly AdmissionRequest[],
  settles: readonly Settlement[],
): Promise<IdempotencyState[]> | [] {
  const byAccount = [
    ...admits.flatMap(({ keyHash, idempotency }) =>
      typeof keyHash === 'string' || idempotency === null ? [] : [{ accountId: keyHash.account, ...idempotency }],
    ),
    ...settles.flatMap(({ caller: { accountId }, idempotency }) =>
      idempotency === null ? [] : [{ accountId, ...idempotency }],
    ),
  ];
  if (byAccount.length === 0) return [];
  return query<StoredIdempotency>('idempotency', SELECT_IDEMPOTENCY, arraysOf(REPLY_KEY, byAccount));
}

function loadIdempotencyOfKeys(query: RunQuery, admits: readonly AdmissionRequest[]): Promise<IdempotencyState[]> | [] {
  const byKey = admits.flatMap(({ keyHash, idempotency }) =>
    typeof keyHash === 'string' && idempotency !== null ? [{ hash: keyHash, ...idempotency }] : [],
  );
  if (byKey.length === 0) return [];
  return query<StoredIdempotency>('idempotency-of-keys', IDEMPOTENCY_OF_KEYS, arraysOf(REPLY_OF_KEY, byKey));
}

/** Mailboxes to be remembered, by account or by the hash of a key. */
interface Sightings {
  readonly byHash: readonly (readonly [hash: string, seen: Sighting])[];
  readonly byAccount: readonly (readonly [account: string, seen: Sighting])[];
}

function sightingsOf(admits: readonly AdmissionRequest[], settles: readonly Settlement[]): Sightings {
  const byHash: [string, Sighting][] = [];
  const byAccount: [string, Sighting][] = [];
  for (const { keyHash, verify } of admits) {
    if (verify?.seen == null) continue;
    if (typeof keyHash === 'string') byHash.push([keyHash, verify.seen]);
    else byAccount.push([keyHash.account, verify.seen]);
  }
  for (const { caller, seen } of settles) if (seen != null) byAccount.push([caller.accountId, seen]);
  return { byHash, byAccount };
}

function loadSeenOwners(query: RunQuery, { byHash, byAccount }: Sightings): Promise<SeenOwner[]> | [] {
  if (byHash.length + byAccount.length === 0) return [];
  const ids = [byHash, byAccount].map((some) => uniqueValues(some.map(([id]) => id)));
  return query<SeenOwner & pg.QueryResultRow>('seen-owners', SEEN_OWNERS, ids);
}

/** This takes the second round trip, as only the secret of the account tells what to look for. */
async function loadSeen(
  query: RunQuery,
  { byHash, byAccount }: Sightings,
  keyByHash: ReadonlyMap<string, KeyState>,
  owners: ReadonlyMap<string, SeenOwner>,
): Promise<Map<string, SeenState>> {
  const ofKeys = byHash.map(([hash, seen]) => [keyByHash.get(hash)?.accountId ?? '', seen] as const);
  const wanted = new Map(
    [...ofKeys, ...byAccount].flatMap(([id, { mailbox, scope }]) => {
      const owner = owners.get(id);
      if (owner === undefined) return [];
      const key = { accountId: owner.accountId, mailbox: hashedMailbox(owner, mailbox), scope };
      return [[seenId(key.accountId, key.mailbox, scope), key] as const];
    }),
  );
  if (wanted.size === 0) return new Map();
  const rows = await query<SeenState & pg.QueryResultRow>(
    'seen',
    SELECT_SEEN,
    arraysOf(SEEN_KEY, [...wanted.values()]),
  );
  return byId(rows, ({ accountId, mailbox, scope }) => seenId(accountId, mailbox, scope));
}

const filterId = (account: string, kind: FilterKind, value: string): string => `${account}\n${kind}\n${value}`;

/** A second round trip, only when an account of the batch has filters of a kind that a request could match. */
async function loadFilters(
  query: RunQuery,
  admits: readonly AdmissionRequest[],
  keyByHash: ReadonlyMap<string, KeyState>,
  accountById: ReadonlyMap<string, AccountState>,
): Promise<Map<string, FilterRule>> {
  const accountOf = ({ keyHash }: AdmissionRequest): AccountState | null => {
    const id = typeof keyHash === 'string' ? keyByHash.get(keyHash)?.accountId : keyHash.account;
    return accountById.get(id ?? '') ?? null;
  };
  const wanted = filterRows(admits.map((admit) => [accountOf(admit), admit]));
  if (wanted.length === 0) return new Map();
  const rows = await query<FilterRule & { accountId: string }>(
    'filters',
    SELECT_FILTERS,
    arraysOf(FILTER_VALUE, wanted),
  );
  return new Map(
    rows.map(({ accountId, ...filter }) => [filterId(accountId, filter.filterType, filter.value), filter]),
  );
}

/**
 * What to look for: account, kind and value of the filters that could match the requests. Without duplicates, as
 * requests of one account mostly come from one address.
 */
export function filterRows(
  asked: Iterable<readonly [account: AccountState | null, request: AdmissionRequest]>,
): FilterValue[] {
  const wanted = new Map<string, FilterValue>();
  for (const [account, { verify }] of asked) {
    if (account === null || verify === null) continue;
    for (const [kind, value] of filterLookups(account, verify.filterKeys).flatMap(candidatesOf))
      wanted.set(filterId(account.id, kind, value), { accountId: account.id, kind, value });
  }
  return [...wanted.values()];
}
