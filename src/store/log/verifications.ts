import type { StorageDriver } from '../driver.ts';
import type { Verifications } from '../store.ts';
import { erase } from './erase.ts';
import { AFTER_LAST_SEQ, FIRST_SEQ, toVerification } from './row.ts';
import { edgeOf, search } from './search.ts';

export function verifications(driver: StorageDriver): Verifications {
  return {
    async get(account, id) {
      const mine = driver.db.selectFrom('verifications').selectAll().where('account_id', '=', account);
      const row = await mine.where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : toVerification(row);
    },

    async list(account, { offset, limit }) {
      const mine = driver.db.selectFrom('verifications').where('account_id', '=', account);
      const total = await mine.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
      const rows = await mine.selectAll().orderBy('seq', 'desc').offset(offset).limit(limit).execute();
      return { items: rows.map(toVerification), total: total.n };
    },

    async mailboxChecks(account, limit) {
      const edge = await edgeOf(driver, account, AFTER_LAST_SEQ);
      const rows = await driver.scans
        .selectFrom('verifications')
        .select(['body', 'deliverability', 'reason', 'duration_ms'])
        .where(driver.seqRange(account, edge?.seq ?? FIRST_SEQ, AFTER_LAST_SEQ))
        .where('requested', '=', 'smtp')
        .orderBy('account_id', 'desc')
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ duration_ms: durationMs, ...row }) => ({ ...row, durationMs }));
    },

    async clients(account, keyId, limit) {
      const edge = await edgeOf(driver, account, AFTER_LAST_SEQ);
      const rows = await driver.scans
        .selectFrom('verifications')
        .select(({ fn }) => ['client_ip', fn.countAll<number>().as('n'), fn.max('created_at').as('last')])
        .where(driver.seqRange(account, edge?.seq ?? FIRST_SEQ, AFTER_LAST_SEQ))
        .where('key_id', '=', keyId)
        .groupBy('client_ip')
        .orderBy('last', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ client_ip: ip, n: requests, last: lastAt }) => ({ ip, requests, lastAt }));
    },

    search: (account, wanted) => search(driver, account, wanted),
    erase: (account, email, by) => erase(driver, account, email, by),
  };
}
