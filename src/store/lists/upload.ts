import { ApiError } from '../../kernel/errors.ts';
import { LISTS_MAX } from '../../kernel/facts/limits.ts';
import { listPrice } from '../../kernel/facts/plans.ts';
import { lockAccount } from '../account-rows.ts';
import type { StorageDriver } from '../driver.ts';
import { lowerCaseText } from '../filters.ts';
import { storeReply } from '../idempotency.ts';
import { writeAudit } from '../people/audit-log.ts';
import { storable } from '../rows.ts';
import type { Lists } from '../store.ts';
import { storageOf } from '../usage.ts';
import { deleteList } from './end.ts';
import { findList, layoutText, noResults, toList } from './row.ts';

type Upload = Pick<Lists, 'create' | 'append' | 'finish' | 'discard'>;

export function upload(driver: StorageDriver): Upload {
  return {
    async create({ id, account, keyId, clientIp, name, level, patienceMinutes, layout, policy = null }) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        await driver.lockAccounts(trx, [account]);
        const { lists, listBytes } = await storageOf(trx, account);
        if (lists >= LISTS_MAX) throw new ApiError('too_many_lists');
        const { used, limit } = listBytes;
        if (used >= limit) throw new ApiError('list_storage_full', undefined, { limit });
        const owner = trx.selectFrom('accounts').select('test_of').where('id', '=', account);
        const test = (await owner.executeTakeFirst())?.test_of != null;
        const row = {
          ...{ id, account_id: account, key_id: keyId, client_ip: clientIp, status: 'uploading' as const },
          ...{ name: storable(name), name_folded: lowerCaseText(name), layout: layoutText(layout) },
          ...{ validation_type: level, patience_minutes: patienceMinutes, unit_price: listPrice(level, test) },
          policy: policy && JSON.stringify({ ...policy, messages: {} }),
          ...{ breakdown: JSON.stringify(noResults()), created_at: now, changed_at: now },
        };
        await trx.insertInto('lists').values(row).execute();
        return { bytes: limit - used, limit };
      });
    },

    append: (account, id, blocks) => driver.bulk.append(account, id, blocks),

    async finish(account, id, rows, { by, summary = null, stored = null } = {}) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        if ((await lockAccount(driver, trx, account)) === null) return null;
        const mine = trx.updateTable('lists').set({
          ...{ ...rows, status: 'ready' as const, changed_at: now },
          summary: summary && JSON.stringify(summary),
        });
        const open = mine.where('id', '=', id).where('account_id', '=', account).where('status', '=', 'uploading');
        const done = await open.returning('name').executeTakeFirst();
        if (done === undefined) return null;
        // Other uploads may have ended since it began; those that go on are looked at when they end.
        const { used, limit } = (await storageOf(trx, account, ['uploading', 'deleted'])).listBytes;
        if (used > limit) throw new ApiError('list_storage_full', undefined, { limit });
        const detail = { list: id, rows: rows.total, addresses: rows.addresses };
        await writeAudit(trx, account, now, by, { action: 'list.created', target: done.name, detail });
        const found = await findList(trx, account, id);
        if (found === undefined) return null;
        const list = toList(driver, found, now);
        await storeReply(driver, trx, account, now, stored, list);
        return list;
      });
    },

    discard: (account, id) => deleteList(driver, account, id, ['uploading']),
  };
}
