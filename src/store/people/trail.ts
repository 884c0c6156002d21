import type { Transaction } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Actor, Trail, TrailEntry } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { storable } from '../text.ts';

export interface Deed {
  readonly action: string;
  readonly target: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Writes the audit log in the transaction of what it tells of; nothing where nobody is named. Answers the row's id. */
export async function tell(
  trx: Transaction<Tables>,
  account: string,
  at: number,
  by: Actor | undefined,
  { action, target, detail = {} }: Deed,
): Promise<number | null> {
  if (by === undefined) return null;
  const row = {
    account_id: account,
    at,
    actor_kind: by.kind,
    actor_id: by.id,
    actor_name: storable(by.name),
    ip: by.ip,
    action,
    target: storable(target),
    detail: JSON.stringify(detail),
  };
  const { id } = await trx.insertInto('trail').values(row).returning('id').executeTakeFirstOrThrow();
  return id;
}

const toEntry = (row: Row<'trail'>): TrailEntry => ({
  id: row.id,
  at: row.at,
  actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, ip: row.ip },
  action: row.action,
  target: row.target,
  detail: JSON.parse(row.detail) as Record<string, unknown>,
});

export function trail({ db }: Engine): Trail {
  return {
    async list(account, { before, limit }) {
      let mine = db.selectFrom('trail').selectAll().where('account_id', '=', account);
      if (before !== null) mine = mine.where('id', '<', before);
      return (await mine.orderBy('id', 'desc').limit(limit).execute()).map(toEntry);
    },
  };
}
