/** What became of mail that accounts sent: takes it, and recalls it when an address is verified again. */
import { type Address, parseAddress } from '../engine/address/parse.ts';
import type { DomainData } from '../engine/data/domain-data.ts';
import { type OutcomeReading, readOutcome } from '../engine/smtp/bounce.ts';
import { type Classifier, createClassifier } from '../engine/smtp/classify.ts';
import { selectorOf, testOutcomeOf } from '../engine/test-mode.ts';
import { DISREGARDED, type MailReport, type ReportedRecipient, readMailReport } from '../files/mail-report.ts';
import { trimBlanks } from '../kernel/blanks.ts';
import { type Clock, DAY_MS } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import {
  contradictingOutcome,
  groupOf,
  type OutcomeSum,
  type Share,
  shareOf,
  type VerdictGroup,
} from '../kernel/facts/calibration.ts';
import {
  CLOCK_TOLERANCE_MS,
  CONTRADICTIONS_LISTED,
  OUTCOME_AGE_DAYS,
  TEST_OUTCOMES_WAITING,
} from '../kernel/facts/limits.ts';
import { OUTCOME_CLASS_FACTS, type OutcomeClass, type ReportedOutcome } from '../kernel/facts/sent-mail.ts';
import type {
  AccountId,
  Contradiction,
  MeasuredVerdict,
  NewOutcome,
  OutcomeFrom,
  OutcomesRecorded,
  ReplyToStore,
  SentAfter,
  Store,
  VerificationRecord,
} from '../store/store.ts';
import { ownerOf } from '../store/test-account.ts';
import type { OutcomeMemory } from './learned.ts';
import { ANY_DOMAIN, canonicalMailbox } from './verify.ts';

export { contradictionObject } from '../store/outcomes.ts';

/** One row has this result; the error is one of the row alone. */
export type OutcomeResult =
  | { readonly result: 'recorded' | 'duplicate'; readonly class: OutcomeClass }
  | { readonly result: 'error'; readonly error: ApiError };

/** It covers what the account has reported. */
interface Calibration {
  /** The most frequent comes first. */
  readonly verdicts: readonly {
    readonly group: VerdictGroup;
    readonly sum: OutcomeSum;
    readonly bounced: Share | null;
  }[];
  /** There is one for each tenth of what was predicted; `predicted` is the average, from 0 to 1. */
  readonly reliability: readonly {
    readonly tenth: number;
    readonly sent: number;
    readonly predicted: number;
    readonly delivered: Share | null;
  }[];
  /** The newest comes first. */
  readonly contradictions: readonly Contradiction[];
}

interface OutcomeServiceParts {
  readonly store: Pick<Store, 'outcomes'>;
  readonly clock: Clock;
  readonly memory: Pick<OutcomeMemory, 'forget'>;
  readonly domainData: () => Pick<DomainData, 'provider'>;
  /** Called with what was recorded in live mode: the class of each outcome, and how many verdicts are contradicted. */
  readonly onRecorded?: (classes: readonly OutcomeClass[], contradictions: number) => void;
}

const wrongField = (field: string, what: string): ApiError =>
  new ApiError('invalid_parameter', `${field} ${what}`, { field });

/** A row that may be recorded. */
interface Readable {
  readonly said: ReportedOutcome;
  readonly address: Address;
  readonly sentAfter: SentAfter | null;
}

export function createOutcomeService({ store, clock, memory, domainData, onRecorded }: OutcomeServiceParts) {
  const { outcomes } = store;
  // Made for the first bounce: that takes some milliseconds.
  let classifier: Classifier | null = null;
  const operatorOf = (host: string) => domainData().provider(host)?.name ?? null;

  function toStored({ said, address, sentAfter }: Readable): NewOutcome {
    classifier ??= createClassifier();
    const { outcome, diagnostic, at, source } = said;
    const email = address.normalized;
    const reading = readOutcome(classifier, { outcome, diagnostic, address: email }, operatorOf);
    const verdict = sentAfter && measured(sentAfter);
    return {
      mailbox: canonicalMailbox(address),
      domain: address.domain,
      class: reading.class,
      at,
      source,
      verdict,
      code: replyCodes(reading),
      template: verdict && contradictingTemplate(classifier, email, reading, verdict),
    };
  }

  /** Each row with the verification that it is about, or why it is none. */
  async function readable(account: AccountId, rows: readonly (ReportedOutcome | ApiError)[]) {
    const now = clock.now();
    const checked = rows.map((row) => (row instanceof ApiError ? row : (faultOf(row, now) ?? row)));
    const good = checked.flatMap((row) => (row instanceof ApiError ? [] : row));
    const ids = good.flatMap(({ verificationId }) => verificationId ?? []);
    const addresses = good.flatMap(({ email, at }) =>
      email === undefined ? [] : [{ email: trimBlanks(email), until: at + CLOCK_TOLERANCE_MS }],
    );
    const { byId, byAddress } = await outcomes.verifications(account, ids, addresses);
    let next = 0;
    return checked.map((row): Readable | ApiError => {
      if (row instanceof ApiError) return row;
      const { email, verificationId = '' } = row;
      const sentAfter = (email === undefined ? byId.get(verificationId) : byAddress[next++]) ?? null;
      if (email === undefined && sentAfter === null)
        return wrongField('verification_id', 'is that of no verification in the log of the account.');
      const parsed = parseAddress(trimBlanks(email ?? sentAfter?.email ?? ''), ANY_DOMAIN);
      if (parsed.ok) return { said: row, address: parsed.address, sentAfter };
      return email === undefined
        ? wrongField('verification_id', 'is that of a malformed address.')
        : wrongField('email', 'must be an email address.');
    });
  }

  return {
    /**
     * Records what became of mail, and returns a result for each row, in their order. A row that is an error already is
     * handed back. `stored`: the reply for the Idempotency-Key, written with the rows. Throws ApiError.
     */
    async record(
      account: AccountId,
      rows: readonly (ReportedOutcome | ApiError)[],
      from: OutcomeFrom,
      stored: ReplyToStore<readonly OutcomeResult[]> | null = null,
    ) {
      const read = await readable(account, rows);
      const toRecord = read.map((row) => (row instanceof ApiError ? row : toStored(row)));
      const all = toRecord.flatMap((row) => (row instanceof ApiError ? [] : row));
      const resultsOf = ({ results }: OutcomesRecorded): readonly OutcomeResult[] => {
        let next = 0;
        return toRecord.map((row) =>
          row instanceof ApiError
            ? { result: 'error', error: row }
            : { result: results[next++] ?? 'duplicate', class: row.class },
        );
      };
      const reply = stored && {
        ref: stored.ref,
        replyTo: (recorded: OutcomesRecorded) => stored.replyTo(resultsOf(recorded)),
      };
      const recorded = await outcomes.record(account, all, from, reply);
      memory.forget(account);
      const classes = all.flatMap((row, i) => (recorded.results[i] === 'recorded' ? [row.class] : []));
      if (ownerOf(account) === account) onRecorded?.(classes, recorded.contradictions.length);
      return resultsOf(recorded);
    },
    /** Returns the newest contradictions of all live accounts. */
    contradictions: () => outcomes.contradictions(null, CONTRADICTIONS_LISTED),
    /** Counts how many outcomes came on each way other than from providers. */
    origins: (account: AccountId) => outcomes.origins(account),
    /** How often the account's verdicts were right. */
    async calibration(account: AccountId): Promise<Calibration> {
      const [sums, predictions, contradictions] = await Promise.all([
        outcomes.verdictSums(account),
        outcomes.predictions(account),
        outcomes.contradictions(account, CONTRADICTIONS_LISTED),
      ]);
      const verdicts = Array.from(sums, ([key, sum]) => ({
        group: groupOf(key),
        sum,
        bounced: shareOf(sum.bounced, sum.sent),
      }));
      const reliability = Array.from(predictions, ([tenth, { sent, bounced, predicted }]) => ({
        tenth,
        sent,
        predicted: predicted / sent / 1_000,
        delivered: shareOf(sent - bounced, sent),
      }));
      return {
        verdicts: verdicts.sort((a, b) => b.sum.sent - a.sum.sent),
        reliability: reliability.sort((a, b) => a.tenth - b.tenth),
        contradictions,
      };
    },
  };
}

export type OutcomeService = ReturnType<typeof createOutcomeService>;

/** What addresses of test mode report of themselves: kept in memory until `flush` records it. */
export function createTestOutcomeReports(outcomes: Pick<OutcomeService, 'record'>, clock: Clock) {
  const waiting = new Map<AccountId, ReportedOutcome[]>();
  let count = 0;
  return {
    verified(account: AccountId, { id: verificationId, email }: Pick<VerificationRecord, 'id' | 'email'>) {
      const { mail } = testOutcomeOf(selectorOf(email));
      if (mail === undefined || count >= TEST_OUTCOMES_WAITING) return;
      const rows = waiting.get(account) ?? [];
      rows.push({ verificationId, ...mail, at: clock.now(), source: 'test mode' });
      waiting.set(account, rows);
      count += 1;
    },
    /** If the store fails, nothing is lost: the next call records the rest. */
    async flush() {
      for (const [account, rows] of waiting) {
        const taken = rows.length;
        await outcomes.record(account, rows.slice(), { origin: 'test_mode' }).catch((error: unknown) => {
          // The account was deleted meanwhile.
          if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
        });
        rows.splice(0, taken);
        count -= taken;
        if (rows.length === 0) waiting.delete(account);
      }
    },
  };
}

export type TestOutcomeReports = ReturnType<typeof createTestOutcomeReports>;

/** What is wrong with a row by itself; null: nothing. */
function faultOf({ email, verificationId, at }: ReportedOutcome, now: number): ApiError | null {
  if (email === undefined && verificationId === undefined)
    return wrongField('email', 'is missing; send it, or verification_id.');
  if (email !== undefined && verificationId !== undefined)
    return wrongField('verification_id', 'cannot be sent together with email; send one of them.');
  if (at > now + CLOCK_TOLERANCE_MS) return wrongField('at', 'is in the future.');
  if (at < now - OUTCOME_AGE_DAYS * DAY_MS) return wrongField('at', `is more than ${OUTCOME_AGE_DAYS} days ago.`);
  return null;
}

const codes = (code: number | null, enhanced: string | null): string | null =>
  code === null ? null : enhanced === null ? String(code) : `${code} ${enhanced}`;

const replyCodes = ({ diagnostic }: OutcomeReading): string | null =>
  diagnostic?.hasCode ? codes(diagnostic.reply.code, diagnostic.reply.enhanced) : null;

/** Returns the template of a bounce that contradicts the verdict. */
function contradictingTemplate(
  classifier: Classifier,
  address: string,
  { class: of, diagnostic }: OutcomeReading,
  { group }: MeasuredVerdict,
): string | null {
  if (diagnostic === null || OUTCOME_CLASS_FACTS[of].about !== 'address') return null;
  if (contradictingOutcome(group) !== 'bounced') return null;
  return classifier.template({ reply: diagnostic.reply, echoes: { address, ourNames: [], ourIps: [] } }).text;
}

/** Null: nothing was found out that mail could be measured by. */
function measured({ id, evidence, deliverability, reason, validationType: level }: SentAfter): MeasuredVerdict | null {
  if (reason === 'blocked_by_filter') return null;
  const { provider, rule, code, enhanced, p } = evidence;
  return {
    verificationId: id,
    group: { deliverability, reason, level, provider },
    predicted: p === null ? null : Math.round(p * 1_000),
    rule,
    reply: codes(code, enhanced),
  };
}

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
