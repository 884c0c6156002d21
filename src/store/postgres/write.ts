/** What a batch writes: at most one statement per table, the rows as arrays. */
import type pg from 'pg';
import type { Changes, ChargeState } from '../charge/state.ts';
import { storable, storableOrNull } from '../text.ts';
import { arrayParameter, elementTypes } from './arrays.ts';
import { numbered } from './together.ts';

export type Statement = pg.QueryConfig<unknown[]> & { name: string; text: string; values: unknown[] };

/** The statement, with one array per column, out of one tuple per row, and then `rest`. */
export function statement(
  name: string,
  text: string,
  rows: readonly (readonly unknown[])[],
  ...rest: unknown[]
): Statement {
  const arrays = elementTypes(text).map((type, i) =>
    arrayParameter(
      rows.map((row) => row[i]),
      type,
    ),
  );
  return { name, text, values: [...arrays, ...rest] };
}

/** In a statement that writes rows of accounts: where `oneStatement` puts its condition. */
const OF_CHARGED = '/* of charged accounts */';

const SET_ACCOUNTS = `UPDATE accounts a SET balance = c.balance, locked = c.locked, window_start = c.window_start,
    window_count = c.window_count
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
    AS c (id, balance, locked, window_start, window_count)
  WHERE a.id = c.id`;
const SET_KEY_USES = `UPDATE keys k SET last_used_at = $3, last_used_ip = c.ip
  FROM unnest($1::text[], $2::text[]) AS c (id, ip) WHERE k.id = c.id ${OF_CHARGED}`;
const SET_BUDGETS = `UPDATE keys k SET budget_month = c.month, budget_spent = c.spent, budget_held = c.held
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) AS c (id, month, spent, held) WHERE k.id = c.id`;
const ADD_LEDGER = `INSERT INTO ledger (account_id, kind, amount, verification_id, created_at)
  SELECT c.*, $5 FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[])
    AS c (account_id, kind, amount, verification_id) WHERE true ${OF_CHARGED}`;
const ADD_HOLDS = `INSERT INTO holds
    (id, account_id, key_id, amount, route, idempotency_key, expires_at, node, created_at)
  SELECT c.*, $8, $9 FROM
    unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::bigint[])
      AS c (id, account_id, key_id, amount, route, idempotency_key, expires_at) WHERE true ${OF_CHARGED}`;
const END_HOLDS = 'DELETE FROM holds WHERE id = ANY ($1::text[])';
const ADD_VERIFICATIONS = `INSERT INTO verifications (id, account_id, key_id, email, requested, validation_type, status,
    deliverability, reason, credits, client_ip, duration_ms, body, held, via, created_at)
  SELECT c.*, $16 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::bigint[], $11::text[], $12::bigint[], $13::text[], $14::bigint[], $15::text[])
    AS c (id, account_id, key_id, email, requested, validation_type, status, deliverability, reason, credits, client_ip,
      duration_ms, body, held, via) WHERE true ${OF_CHARGED}`;
const ADD_USAGE = `INSERT INTO usage_hours
    (account_id, hour, key_id, validation_type, status, reason, requests, credits)
  SELECT c.* FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
    $8::bigint[]) AS c (account_id, hour, key_id, validation_type, status, reason, requests, credits)
  WHERE true ${OF_CHARGED}
  ON CONFLICT (account_id, hour, key_id, validation_type, status, reason) DO UPDATE
    SET requests = usage_hours.requests + excluded.requests, credits = usage_hours.credits + excluded.credits`;
const PUT_IDEMPOTENCY = `INSERT INTO idempotency
    (account_id, route, key, fingerprint, state, status, headers, body, node, created_at, expires_at)
  SELECT c.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[],
    $8::text[], $9::text[], $10::bigint[], $11::bigint[]) AS c
  ON CONFLICT (account_id, route, key) DO UPDATE SET fingerprint = excluded.fingerprint, state = excluded.state,
    status = excluded.status, headers = excluded.headers, body = excluded.body, node = excluded.node,
    created_at = excluded.created_at, expires_at = excluded.expires_at`;
const DROP_IDEMPOTENCY = `DELETE FROM idempotency i USING unnest($1::text[], $2::text[], $3::text[])
  AS c (account_id, route, key) WHERE i.account_id = c.account_id AND i.route = c.route AND i.key = c.key`;

/** The statements that record `changes`, in order; none for what is empty. The accounts are locked. */
export function statements(changes: Changes, state: ChargeState): Statement[] {
  const list: Statement[] = [];
  const add: Add = (name, text, rows, ...rest) => {
    if (rows.length > 0) list.push(statement(name, text, rows, ...rest));
  };
  const accounts = [...changes.accounts].map((a) => [a.id, a.balance, a.locked, a.windowStart, a.windowCount]);
  add('set-accounts', SET_ACCOUNTS, accounts);
  const budgets = [...changes.budgets].map((b) => [b.id, b.budgetMonth, b.budgetSpent, b.budgetHeld]);
  add('set-budgets', SET_BUDGETS, budgets);
  addRows(add, changes, state);
  const ended = changes.ended.map((id) => [id]);
  add('end-holds', END_HOLDS, ended);
  const kept = [...changes.idempotency.values()];
  const put = kept
    .filter(({ keep }) => keep)
    .map(({ ref: i }) => [
      ...[i.accountId, i.route, i.key, i.fingerprint, i.state],
      ...[i.status, i.headers, i.body, i.node, i.createdAt, i.expiresAt],
    ]);
  add('put-idempotency', PUT_IDEMPOTENCY, put);
  const dropped = kept.filter(({ keep }) => !keep).map(({ ref: i }) => [i.accountId, i.route, i.key]);
  add('drop-idempotency', DROP_IDEMPOTENCY, dropped);
  return list;
}

type Add = (name: string, text: string, rows: readonly (readonly unknown[])[], ...rest: unknown[]) => void;

/** Rows that are only added, and uses of keys. */
function addRows(add: Add, changes: Changes, { now, node }: ChargeState): void {
  add('set-key-uses', SET_KEY_USES, [...changes.keyUses], now);
  const ledger = changes.ledger.map((l) => [l.accountId, l.kind, l.amount, l.verificationId]);
  add('add-ledger', ADD_LEDGER, ledger, now);
  const holds = changes.holds.map((h) => [
    h.id,
    h.accountId,
    h.keyId,
    h.amount,
    h.route,
    h.idempotencyKey,
    h.expiresAt,
  ]);
  add('add-holds', ADD_HOLDS, holds, node, now);
  add('add-verifications', ADD_VERIFICATIONS, changes.verifications.map(verification), now);
  const usage = [...changes.usage.values()].map((u) => [
    ...[u.accountId, u.hour, u.keyId, u.validationType, u.status],
    ...[u.reason, u.requests, u.credits],
  ]);
  add('add-usage', ADD_USAGE, usage);
}

/** By the names of the parts. */
const combined = new Map<string, { readonly name: string; readonly text: string }>();

/**
 * One statement of `first`, of which the one named `charged` returns the ids of the accounts it has charged, and of
 * what `changes` adds for them; returns what that one returns. Each part may refer to those before it by name, and sees
 * the store as it was before the statement.
 */
export function oneStatement(first: readonly Statement[], changes: Changes, state: ChargeState): Statement {
  const parts = [...first];
  addRows(
    (name, text, rows, ...rest) => {
      if (rows.length > 0) parts.push(statement(name, text, rows, ...rest));
    },
    changes,
    state,
  );
  const names = parts.map(({ name }) => name).join(' ');
  let whole = combined.get(names);
  if (whole === undefined) {
    whole = { name: `charge-${combined.size}`, text: combine(parts) };
    combined.set(names, whole);
  }
  return { ...whole, values: parts.flatMap(({ values }) => values) };
}

function combine(statements: readonly Statement[]): string {
  const { parts } = numbered(statements.map(({ text, values }) => ({ sql: text, parameters: values })));
  const named = statements.map(({ name }, i) => {
    const own = parts[i]?.replace(OF_CHARGED, 'AND account_id IN (SELECT id FROM charged)');
    return `${name.replaceAll('-', '_')} AS (${own})`;
  });
  return `WITH ${named.join(', ')} SELECT * FROM charged`;
}

const verification = ({ accountId, keyId, record: r, held }: Changes['verifications'][number]): unknown[] => [
  ...[r.id, accountId, keyId, storable(r.email), r.requested, r.validationType, r.status, r.deliverability],
  ...[r.reason, r.credits, storableOrNull(r.clientIp), r.durationMs, r.body, held, r.via ?? null],
];
