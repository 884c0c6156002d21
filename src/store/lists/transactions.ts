/** The transactions that lists are made of by the thousand, for both databases. */
import type { ListTransactions, TransactionDriver } from '../driver.ts';
import { appendBlocks } from './append.ts';
import { claimChunks, claimWaiting } from './claim.ts';
import { recordOutcomes } from './record.ts';

export const listTransactions = (driver: TransactionDriver): ListTransactions => ({
  append: (account, list, blocks) => appendBlocks(driver, account, list, blocks),
  claim: (claim) => claimChunks(driver, claim),
  claimWaiting: (claim) => claimWaiting(driver, claim),
  record: (account, list, outcomes) => recordOutcomes(driver, account, list, outcomes),
});
