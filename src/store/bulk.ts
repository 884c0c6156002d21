/** The transactions that lists, imports of filters and purges are made of by the thousand, for both databases. */
import type { BulkTransactions, TransactionDriver } from './driver.ts';
import { addFilters } from './filters.ts';
import { appendBlocks } from './lists/append.ts';
import { claimChunks, claimWaiting } from './lists/claim.ts';
import { recordOutcomes } from './lists/record.ts';
import { deleteVerifications } from './log/verifications.ts';

export const bulkTransactions = (driver: TransactionDriver): BulkTransactions => ({
  append: (account, list, blocks) => appendBlocks(driver, account, list, blocks),
  claim: (claim) => claimChunks(driver, claim),
  claimWaiting: (claim) => claimWaiting(driver, claim),
  record: (account, list, outcomes) => recordOutcomes(driver, account, list, outcomes),
  addFilters: (account, inputs, by) => addFilters(driver, account, inputs, by),
  deleteVerifications: (some) => deleteVerifications(driver, some),
});
