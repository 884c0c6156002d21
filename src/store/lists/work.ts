/** Work on lists: what is running, who works on what (claim.ts). */
import { type SqlBool, sql } from 'kysely';
import { randomToken } from '../../kernel/ids.ts';
import type { ClaimedChunk, StorageDriver } from '../driver.ts';
import { accountId } from '../rows.ts';
import type { ListClaim, Lists, ListWork } from '../store.ts';
import type { Row } from '../tables.ts';
import { parseAddresses, parsePending } from './blocks.ts';
import { leaseKept, ofList } from './claim.ts';
import { policyOf } from './row.ts';

type Work = Pick<Lists, 'newLease' | 'running' | 'claim' | 'claimWaiting' | 'renew' | 'release'>;

export function work(driver: StorageDriver): Work {
  return {
    newLease: async () => `${await driver.acquireNode()}.${randomToken(22)}`,

    async running() {
      const rows = await driver.db
        .selectFrom('lists')
        .innerJoin('accounts', 'accounts.id', 'lists.account_id')
        .select(['lists.id', 'lists.account_id', 'lists.key_id', 'lists.client_ip', 'lists.validation_type'])
        .select(['lists.addresses', 'lists.done', 'lists.policy', 'accounts.test_of'])
        // It is written literally, so that the partial index answers.
        .where(sql<boolean>`lists.status = 'running'`)
        .where('accounts.status', '=', 'active')
        .orderBy('lists.started_at')
        .orderBy('lists.id')
        .execute();
      return rows.map(({ id, addresses, done, ...row }) => ({
        id,
        addresses,
        done,
        test: row.test_of !== null,
        account: accountId(row.account_id),
        keyId: row.key_id,
        clientIp: row.client_ip,
        level: row.validation_type,
        policy: policyOf(row),
      }));
    },

    async claim(claim) {
      const chunks = await driver.bulk.claim(claim);
      return chunks.flatMap((chunk) => worksOf(claim, chunk));
    },

    async claimWaiting(claim) {
      const rows = await driver.bulk.claimWaiting(claim);
      return rows.map((row) => waitingWork(claim, row));
    },

    async renew(lease, leaseMs) {
      await leaseKept(driver.db, lease, await driver.now(), leaseMs).execute();
    },

    async release({ account, list, lease }, againMs = 0) {
      const now = await driver.now();
      await driver.transaction(async (trx) => {
        await driver.lockAccounts(trx, [account]);
        const mine = { account, list };
        await ofList(trx.updateTable('list_chunks'), mine)
          .set((eb) => ({ lease: null, due_at: now + againMs, attempts: eb('attempts', '-', 1) }))
          .where('lease', '=', lease)
          .where('attempts', '>', 0)
          .execute();
        await ofList(trx.updateTable('list_chunks'), mine)
          .set({ lease: null, due_at: now + againMs })
          .where('lease', '=', lease)
          .execute();
        await ofList(trx.updateTable('list_waiting'), mine)
          .set({ lease: null, claims: 0, due_at: now + againMs })
          .where('lease', '=', lease)
          .where('due_at', 'is not', null)
          .execute();
      });
    },
  };
}

/** Ends the leases of a node that is dead. */
export async function endLeasesOf({ db }: Pick<StorageDriver, 'db'>, node: string): Promise<void> {
  const its = sql<SqlBool>`substr(lease, 1, ${sql.lit(node.length + 1)}) = ${`${node}.`}`;
  await db.deleteFrom('list_leases').where(its).execute();
}

function worksOf({ account, list }: ListClaim, chunk: ClaimedChunk): ListWork[] {
  const addresses = parseAddresses(chunk.addresses);
  return parsePending(chunk.pending).map((address) => {
    const email = addresses[address - chunk.first_address];
    if (email === undefined) throw new Error(`The list ${list} has no address ${address} in the block of its chunk.`);
    return { list, account, block: chunk.first_row, address, email, attempts: 0, egress: null };
  });
}

const waitingWork = ({ account, list }: ListClaim, row: Row<'list_waiting'>): ListWork => ({
  list,
  account,
  block: null,
  address: row.address,
  email: row.email,
  attempts: row.attempts,
  egress: row.egress,
});
