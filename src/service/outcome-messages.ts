import { DISREGARDED, type MailReport, type ReportedRecipient, readMailReport } from '../files/mail-report.ts';
import type { AccountId, OutcomeFrom } from '../store/store.ts';
import type { OutcomeResult, OutcomeService } from './outcomes.ts';

export { DISREGARDED };

/**
 * Records what a report of a mail server says, with a result for each of its recipients. A report without a time, or
 * with one that our clock has not reached, is one of now. Throws ApiError.
 */
export async function recordMessage(
  outcomes: OutcomeService,
  account: AccountId,
  raw: Uint8Array,
  { source, from, now }: { readonly source: string | null; readonly from: OutcomeFrom; readonly now: number },
): Promise<{
  readonly recipients: readonly ReportedRecipient[];
  readonly results: readonly OutcomeResult[];
  readonly disregarded: MailReport['disregarded'];
}> {
  const { outcomes: recipients, disregarded } = await readMailReport(raw);
  const rows = recipients.map(({ at, ...one }) => ({ ...one, at: at === null || at > now ? now : at, source }));
  const results = rows.length === 0 ? [] : await outcomes.record(account, rows, from);
  return { recipients, results, disregarded };
}
