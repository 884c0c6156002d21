import type { Transaction } from 'kysely';
import { UNCERTAIN_REPLIES_MAX, UNCERTAIN_REPLIES_PER_OPERATOR } from '../kernel/facts/limits.ts';
import { BATCH_ROWS } from './batches.ts';
import type { StorageDriver } from './driver.ts';
import { onlyRow } from './rows.ts';
import type { Store, UncertainReplyCount, UncertainReplyRow } from './store.ts';
import type { Row, Tables } from './tables.ts';

const byKey = (a: UncertainReplyCount, b: UncertainReplyCount): number =>
  a.operator < b.operator || (a.operator === b.operator && a.fingerprint < b.fingerprint) ? -1 : 1;

const toUncertainReply = ({
  first_seen: firstSeen,
  last_seen: lastSeen,
  ...row
}: Row<'uncertain_replies'>): UncertainReplyRow => ({
  ...row,
  firstSeen,
  lastSeen,
});

/** Deletes the rarest kinds beyond a number of them, of one operator or of all; of equally rare ones the oldest. */
async function deleteBeyond(trx: Transaction<Tables>, most: number, operator: string | null): Promise<void> {
  const all = trx.selectFrom('uncertain_replies').select(['operator', 'fingerprint']);
  const sorted = (operator === null ? all : all.where('operator', '=', operator))
    .orderBy('count', 'desc')
    .orderBy('last_seen', 'desc')
    .orderBy('operator')
    .orderBy('fingerprint');
  const kept = await sorted.limit(BATCH_ROWS).offset(most).execute();
  for (const one of kept) {
    const row = trx.deleteFrom('uncertain_replies').where('operator', '=', one.operator);
    await row.where('fingerprint', '=', one.fingerprint).execute();
  }
}

export function uncertainReplies(driver: StorageDriver): Store['uncertainReplies'] {
  const { db } = driver;
  return {
    async add(replies) {
      if (replies.length === 0) return;
      const now = await driver.now();
      await driver.transaction(async (trx) => {
        // All nodes use one order, so that concurrent writers wait instead of deadlocking.
        for (const reply of [...replies].sort(byKey)) {
          const { rule, finding } = reply;
          await trx
            .insertInto('uncertain_replies')
            .values({ ...reply, first_seen: now, last_seen: now })
            .onConflict((oc) =>
              oc.columns(['operator', 'fingerprint']).doUpdateSet((eb) => ({
                count: eb('uncertain_replies.count', '+', reply.count),
                last_seen: now,
                rule,
                finding,
              })),
            )
            .execute();
        }
        for (const operator of [...new Set(replies.map((reply) => reply.operator))].sort())
          await deleteBeyond(trx, UNCERTAIN_REPLIES_PER_OPERATOR, operator);
        await deleteBeyond(trx, UNCERTAIN_REPLIES_MAX, null);
      });
    },

    async list({ unmatched, limit }) {
      const all = db.selectFrom('uncertain_replies');
      const asked = unmatched ? all.where('rule', 'like', 'unmatched.%') : all;
      const rows = asked.selectAll().orderBy('count', 'desc').orderBy('last_seen', 'desc').orderBy('fingerprint');
      const count = asked.select((eb) => eb.fn.countAll().as('n'));
      return {
        items: (await rows.limit(limit).execute()).map(toUncertainReply),
        total: Number(onlyRow(await count.execute()).n),
      };
    },
  };
}
