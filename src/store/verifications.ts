import type { Engine } from './engine.ts';
import type { Verifications } from './store.ts';
import type { Row } from './tables.ts';

const toVerification = (row: Row<'verifications'>) => ({
  id: row.id,
  email: row.email,
  requested: row.requested,
  validationType: row.validation_type,
  status: row.status,
  deliverability: row.deliverability,
  reason: row.reason,
  credits: row.credits,
  clientIp: row.client_ip,
  durationMs: row.duration_ms,
  body: row.body,
  createdAt: row.created_at,
  keyId: row.key_id,
});

export function verifications(engine: Engine): Verifications {
  return {
    async get(account, id) {
      const mine = engine.db.selectFrom('verifications').selectAll().where('account_id', '=', account);
      const row = await mine.where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : toVerification(row);
    },

    async list(account, { offset, limit }) {
      const mine = engine.db.selectFrom('verifications').where('account_id', '=', account);
      const total = await mine.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
      const rows = await mine.selectAll().orderBy('seq', 'desc').offset(offset).limit(limit).execute();
      return { items: rows.map(toVerification), total: total.n };
    },
  };
}
