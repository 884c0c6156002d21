/** What a batch reads, in one flight of pipelined statements behind the lock on its accounts. */
import type pg from 'pg';
import { idempotencyId } from '../charge/idempotency.ts';
import { candidates } from '../charge/match.ts';
import type {
  AccountState,
  ChargeRequest,
  ChargeState,
  HoldState,
  IdempotencyState,
  KeyState,
} from '../charge/state.ts';
import type { AdmissionRequest, Filter, IdempotencyRef, Settlement } from '../store.ts';

/**
 * The lock comes first and in a statement of its own: what the others read is then as the last holder of the lock left
 * it. All writers lock accounts in the order of their ids, so any number of nodes cannot deadlock. The ids are an array
 * that is made before the scan: joined to a sub-select, an account that changes while its lock is waited for would be
 * judged again against the join and could go missing.
 */
const LOCK = `SELECT id, plan, rate_limit AS "rateLimit", status, balance, locked, window_start AS "windowStart",
    window_count AS "windowCount", filter_emails AS "filterEmails", filter_domains AS "filterDomains",
    filter_ips AS "filterIps"
  FROM accounts
  WHERE id = ANY (ARRAY(SELECT account_id FROM keys WHERE hash = ANY ($1::text[])) || $2::text[])
  ORDER BY id FOR NO KEY UPDATE`;
const TIME = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
  pg_current_xact_id()::text AS xid`;
const KEYS = `SELECT id, account_id AS "accountId", hash, allow_ips AS "allowIps", revoked_at AS "revokedAt",
  last_used_at AS "lastUsedAt" FROM keys WHERE hash = ANY ($1::text[])`;
const HOLDS = 'SELECT id, account_id AS "accountId", amount FROM holds WHERE id = ANY ($1::text[])';
const RECORDED = 'SELECT id FROM verifications WHERE id = ANY ($1::text[])';
const IDEMPOTENCY = `SELECT account_id AS "accountId", route, key, fingerprint, state, status, headers, body, node,
    created_at AS "createdAt", expires_at AS "expiresAt"
  FROM idempotency JOIN (
    SELECT k.account_id, r.route, r.key FROM unnest($1::text[], $2::text[], $3::text[]) AS r (hash, route, key)
      JOIN keys k ON k.hash = r.hash
    UNION SELECT * FROM unnest($4::text[], $5::text[], $6::text[])
  ) AS wanted (account_id, route, key) USING (account_id, route, key)`;
const FILTERS = `SELECT f.account_id AS "accountId", f.id, f.filter_type AS "filterType", f.value, f.reason,
    f.created_at AS "createdAt"
  FROM unnest($1::text[], $2::text[], $3::text[]) AS c (account_id, filter_type, value)
  JOIN filters f USING (account_id, filter_type, value)`;

export interface Loaded {
  readonly state: ChargeState;
  /** The transaction, for `pg_xact_status`. */
  readonly xid: string;
}

type Ask = <T extends pg.QueryResultRow>(name: string, text: string, values: unknown[]) => Promise<T[]>;

const byId = <T>(rows: readonly T[], id: (row: T) => string): Map<string, T> =>
  new Map(rows.map((row) => [id(row), row]));
const unique = (values: readonly string[]): string[] => [...new Set(values)];

/** Begins the transaction, locks and reads. `clock`: the time to go by instead of the server's. */
export async function load(
  client: pg.Client,
  requests: readonly ChargeRequest[],
  node: string,
  clock: (() => number) | null,
): Promise<Loaded> {
  const ask: Ask = async (name, text, values) => (await client.query({ name, text, values })).rows;
  const admits = requests.flatMap((request) => (request.kind === 'admit' ? [request.admit] : []));
  const settles = requests.flatMap((request) => (request.kind === 'settle' ? [request.settle] : []));
  const hashes = unique(admits.flatMap(({ keyHash }) => (typeof keyHash === 'string' ? [keyHash] : [])));
  const named = admits.flatMap(({ keyHash }) => (typeof keyHash === 'string' ? [] : [keyHash.account]));
  const accountIds = unique([...named, ...settles.map((settle) => settle.caller.accountId)]);
  const holdIds = settles.map((settle) => settle.holdId);
  const recordIds = settles.flatMap((settle) => (settle.record === null ? [] : [settle.record.id]));

  const [, accounts, time, keys, holds, recorded, idempotency] = await flight([
    client.query('BEGIN ISOLATION LEVEL READ COMMITTED'),
    ask<AccountState & pg.QueryResultRow>('lock', LOCK, [hashes, accountIds]),
    ask<{ now: number; xid: string }>('time', TIME, []),
    hashes.length === 0 ? [] : ask<KeyState & { hash: string }>('keys', KEYS, [hashes]),
    holdIds.length === 0 ? [] : ask<HoldState & pg.QueryResultRow>('holds', HOLDS, [holdIds]),
    recordIds.length === 0 ? [] : ask<{ id: string }>('recorded', RECORDED, [recordIds]),
    askIdempotency(ask, admits, settles),
  ]);
  const accountById = byId(accounts, (account) => account.id as string);
  const keyByHash = byId(keys, (key) => key.hash);
  const holdById = byId(holds, (hold) => hold.id);
  const recordedIds = new Set(recorded.map((row) => row.id));
  const replies = byId(idempotency, (row) => idempotencyId(row.accountId, row));
  const filters = await loadFilters(ask, admits, keyByHash, accountById);

  const state: ChargeState = {
    now: clock?.() ?? time[0]!.now,
    node,
    key: (hash) => keyByHash.get(hash) ?? null,
    account: (id) => accountById.get(id) ?? null,
    hold: (id) => holdById.get(id) ?? null,
    recorded: (id) => recordedIds.has(id),
    idempotency: (accountId, route, key) => replies.get(idempotencyId(accountId, { route, key })) ?? null,
    filter: (accountId, type, value) => filters.get(filterId(accountId, type, value)) ?? null,
  };
  return { state, xid: time[0]!.xid };
}

/** Waits for all of what was sent, then throws the first failure in order: those after it only follow from it. */
export async function flight<T extends readonly unknown[] | []>(
  sent: T,
): Promise<{ -readonly [P in keyof T]: Awaited<T[P]> }> {
  await Promise.allSettled(sent);
  return Promise.all(sent);
}

function askIdempotency(
  ask: Ask,
  admits: readonly AdmissionRequest[],
  settles: readonly Settlement[],
): Promise<IdempotencyState[]> | [] {
  const byKey = admits.flatMap(({ keyHash, idempotency }) =>
    typeof keyHash === 'string' ? triple(keyHash, idempotency) : [],
  );
  const byAccount = [
    ...admits.flatMap(({ keyHash, idempotency }) =>
      typeof keyHash === 'string' ? [] : triple(keyHash.account, idempotency),
    ),
    ...settles.flatMap(({ caller, idempotency }) => triple(caller.accountId, idempotency)),
  ];
  if (byKey.length + byAccount.length === 0) return [];
  const columns = [byKey, byAccount].flatMap((rows) => [0, 1, 2].map((i) => rows.map((row) => row[i])));
  return ask<IdempotencyState & pg.QueryResultRow>('idempotency', IDEMPOTENCY, columns);
}

const triple = (owner: string, ref: IdempotencyRef | null): string[][] =>
  ref === null ? [] : [[owner, ref.route, ref.key]];

const filterId = (account: string, type: string, value: string): string => `${account}\n${type}\n${value}`;

/** A second flight, only when an account of the batch has filters of a type that a request could match. */
async function loadFilters(
  ask: Ask,
  admits: readonly AdmissionRequest[],
  keyByHash: ReadonlyMap<string, KeyState>,
  accountById: ReadonlyMap<string, AccountState>,
): Promise<Map<string, Filter>> {
  // Each once: requests of one account mostly come from one address.
  const wanted = new Map<string, readonly [string, string, string]>();
  for (const { keyHash, verify } of admits) {
    const id = typeof keyHash === 'string' ? keyByHash.get(keyHash)?.accountId : keyHash.account;
    const account = accountById.get(id ?? '');
    if (account === undefined || verify === null) continue;
    for (const [type, value] of candidates(account, verify.filterKeys)) {
      wanted.set(filterId(account.id, type, value), [account.id, type, value]);
    }
  }
  if (wanted.size === 0) return new Map();
  const columns = [0, 1, 2].map((i) => Array.from(wanted.values(), (row) => row[i]));
  const rows = await ask<Filter & { accountId: string }>('filters', FILTERS, columns);
  return new Map(
    rows.map(({ accountId, ...filter }) => [filterId(accountId, filter.filterType, filter.value), filter]),
  );
}
