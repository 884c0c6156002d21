/** Outcomes of one list as a message between threads: a flat array of plain values, as in charge-message.ts. */
import type { AccountId, ListOutcome } from '../store.ts';
import { pushRecord, Reader, readRecord } from './charge-message.ts';

export function writeOutcomes(outcomes: readonly ListOutcome[]): unknown[] {
  const to: unknown[] = [];
  for (const outcome of outcomes) {
    const { block, address, email, attempts, egress } = outcome.work;
    // Nearly always that of the record; copying texts is most of what a message costs.
    to.push(block, address, email === outcome.record?.email ? null : email, attempts, egress);
    pushRecord(to, outcome.record);
    if (outcome.record === null) to.push(outcome.operator, outcome.againMs);
    else to.push(outcome.retryMs ?? null, outcome.egress ?? null);
  }
  return to;
}

export function readOutcomes(account: AccountId, list: string, values: readonly unknown[]): ListOutcome[] {
  const from = new Reader(values);
  const outcomes: ListOutcome[] = [];
  while (!from.ended) {
    const place = { list, account, block: from.next<number | null>(), address: from.next<number>() };
    const [email, attempts] = [from.next<string | null>(), from.next<number>()];
    const egress = from.next<string | null>();
    const record = readRecord(from);
    const work = { ...place, email: email ?? record?.email ?? '', attempts, egress };
    if (record === null) outcomes.push({ work, record, operator: from.next(), againMs: from.next() });
    else outcomes.push({ work, record, retryMs: from.next(), egress: from.next() });
  }
  return outcomes;
}
