/** The end of a list, whatever its reason. The only place where a list changes to a final status. */
import type { FinalListStatus, ListError } from '../../kernel/facts/lists.ts';
import { findSharedHold, releaseSharedHold, type Scope } from '../charge/shared-hold.ts';
import type { StorageDriver } from '../driver.ts';
import type { AccountId } from '../store.ts';
import { emitEvent } from '../webhooks.ts';
import { listObject } from './object.ts';
import { findList, type ListRecord, toList } from './row.ts';

/** Releases what is still held. The account is locked. */
export async function endList(
  scope: Scope,
  account: AccountId,
  id: string,
  status: FinalListStatus | 'deleted',
  error: ListError | null = null,
): Promise<void> {
  const { trx, now } = scope;
  const hold = await findSharedHold(trx, account, id);
  if (hold !== undefined) await releaseSharedHold(scope, hold);
  const ended = { status, changed_at: now, waiting: 0, pace: null, file_bytes: 0 };
  const final = status === 'deleted' ? ended : { ...ended, finished_at: now };
  await trx
    .updateTable('lists')
    .set(error === null ? final : { ...final, error: JSON.stringify(error) })
    .where('id', '=', id)
    .execute();
  if (status === 'deleted') await addListRemovalJob(scope, account, id);
  else await emitEnd(scope, account, id, status);
}

/** Emits the event, with the list as it is now. */
async function emitEnd(scope: Scope, account: AccountId, id: string, status: FinalListStatus): Promise<void> {
  const list = await findList(scope.trx, account, id);
  if (list === undefined) throw new Error(`The list ${id} was deleted while its account is locked.`);
  await emitEvent(scope, account, `list.${status}`, listObject(toList(scope.driver, list, scope.now)));
}

const addListRemovalJob = ({ driver, trx }: Pick<Scope, 'driver' | 'trx'>, account: string, id: string) =>
  driver.jobs.add(trx, { kind: 'list_removal', payload: { list: id }, key: id, account });

/** Makes a list in one of these statuses invisible; a job removes it. */
export async function deleteList(
  driver: StorageDriver,
  account: AccountId,
  id: string,
  from: readonly ListRecord['status'][],
): Promise<void> {
  const now = await driver.now();
  await driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    const mine = trx.selectFrom('lists').select('id').where('id', '=', id).where('account_id', '=', account);
    if ((await mine.where('status', 'in', from).executeTakeFirst()) === undefined) return;
    await endList({ driver, trx, now }, account, id, 'deleted');
  });
}
