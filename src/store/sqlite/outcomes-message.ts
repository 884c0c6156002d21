/** Outcomes of a list as a message between threads: a flat array of plain values, as in charge-message.ts. */
import type { ListOutcome } from '../store.ts';
import { pushRecord, Reader, readRecord } from './charge-message.ts';

export function writeOutcomes(outcomes: readonly ListOutcome[]): unknown[] {
  const to: unknown[] = [];
  for (const outcome of outcomes) {
    const { list, account, block, address, email, attempts } = outcome.work;
    to.push(list, account, block, address, email, attempts);
    pushRecord(to, outcome.record);
    if (outcome.record === null) to.push(outcome.operator, outcome.againMs);
    else to.push(outcome.retryMs ?? null);
  }
  return to;
}

export function readOutcomes(values: readonly unknown[]): ListOutcome[] {
  const from = new Reader(values);
  const outcomes: ListOutcome[] = [];
  while (!from.ended) {
    const place = { list: from.next<string>(), account: from.next<ListOutcome['work']['account']>() };
    const asked = { block: from.next<number | null>(), address: from.next<number>() };
    const work = { ...place, ...asked, email: from.next<string>(), attempts: from.next<number>() };
    const record = readRecord(from);
    if (record === null) outcomes.push({ work, record, operator: from.next(), againMs: from.next() });
    else outcomes.push({ work, record, retryMs: from.next() });
  }
  return outcomes;
}
