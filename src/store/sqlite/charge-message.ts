/**
 * A batch of requests and its answers as messages between threads: flat arrays of plain values, written and read in the
 * same order.
 */
import { ApiError, type ErrorCode } from '../../kernel/errors.ts';
import { UndecidedError } from '../charge/apply-batch.ts';
import type { ChargeAnswer, ChargeRequest } from '../charge/state.ts';
import { isAdmission } from '../charge/state.ts';
import type {
  AccountId,
  Admission,
  AdmissionRequest,
  Caller,
  CompletedReply,
  FilterKeys,
  FilterRule,
  IdempotencyRef,
  ListOutcome,
  RateWindow,
  Settlement,
  StoreEvent,
  VerificationRecord,
  VerifyAdmission,
} from '../store.ts';

interface BatchHead {
  readonly node: string;
  readonly now: number;
  /** The schema version of this program. */
  readonly known: number;
}

/** Reads values in the order in which they were written. */
class Reader {
  readonly #values: readonly unknown[];
  #at = 0;
  constructor(values: readonly unknown[]) {
    this.#values = values;
  }
  get ended(): boolean {
    return this.#at >= this.#values.length;
  }
  next<T>(): T {
    return this.#values[this.#at++] as T;
  }
}

interface Fields<T> {
  readonly names: readonly (keyof T)[];
  push(to: unknown[], value: T): void;
  read(from: Reader): T;
}

/** Plain fields of an object, written and read in one order; does not compile where one is left out. */
const fieldsOf =
  <T extends object>() =>
  <const N extends readonly (keyof T)[]>(names: Exclude<keyof T, N[number]> extends never ? N : never): Fields<T> => ({
    names,
    push(to, value) {
      for (const name of names) to.push(value[name] ?? null);
    },
    read(from) {
      const value: Partial<T> = {};
      for (const name of names) value[name] = from.next();
      return value as T;
    },
  });

const RECORD = fieldsOf<VerificationRecord>()([
  'id',
  'email',
  'requested',
  'validationType',
  'status',
  'deliverability',
  'reason',
  'credits',
  'clientIp',
  'durationMs',
  'body',
  'via',
  'decision',
  'filterId',
  'decisionIfSeen',
]);
const REPLY_REF = fieldsOf<IdempotencyRef>()(['route', 'key', 'fingerprint']);
const CALLER = fieldsOf<Caller>()(['accountId', 'keyId', 'plan', 'test']);
const WINDOW = fieldsOf<RateWindow>()(['limit', 'remaining', 'resetAt']);
/** What is not plain is written beside it. */
const ADMIT = fieldsOf<Omit<AdmissionRequest, 'keyHash' | 'idempotency' | 'verify' | 'gone'>>()([
  'scope',
  'ip',
  'invalid',
]);
const VERIFY = fieldsOf<Omit<VerifyAdmission, 'filterKeys' | 'decide'>>()(['id', 'level', 'test', 'holdMs', 'seen']);
const SETTLE = fieldsOf<Pick<Settlement, 'holdId' | 'seen'>>()(['holdId', 'seen']);

function pushOrNull<T extends object>(to: unknown[], fields: Fields<T>, value: T | null): void {
  to.push(value !== null);
  if (value !== null) fields.push(to, value);
}
const readOrNull = <T extends object>(from: Reader, fields: Fields<T>): T | null =>
  from.next<boolean>() ? fields.read(from) : null;

const pushRecord = (to: unknown[], record: VerificationRecord | null): void => pushOrNull(to, RECORD, record);
const readRecord = (from: Reader): VerificationRecord | null => readOrNull(from, RECORD);

/** What `decide` gave for this filter, or for none. */
export interface Decision {
  readonly filter: FilterRule | null;
  readonly record: VerificationRecord | null;
}

/** A charge without filter, Idempotency-Key and scope: what most of a batch consists of. */
interface PlainCharge {
  readonly admit: AdmissionRequest;
  readonly verify: VerifyAdmission;
  readonly record: VerificationRecord;
}

/** Null for any other request. */
function plainCharge(admit: AdmissionRequest, decision: Decision | null): PlainCharge | null {
  const { verify, idempotency } = admit;
  if (verify === null || idempotency !== null || decision === null || decision.filter !== null) return null;
  if (verify.seen != null) return null;
  const { record } = decision;
  return record !== null && record.id === verify.id ? { admit, verify, record } : null;
}

/**
 * Charges that follow one another in a batch mostly differ in these and in `filterKeys` alone. Only they are sent, as
 * copying texts is most of what a message costs.
 */
const OWN_RECORD = fieldsOf<Pick<VerificationRecord, 'id' | 'email' | 'durationMs' | 'body'>>()([
  'id',
  'email',
  'durationMs',
  'body',
]);
const SHARED_RECORD = RECORD.names.filter((name) => !OWN_RECORD.names.some((own) => own === name));
const SHARED_VERIFY = VERIFY.names.filter((name) => name !== 'id');

const isLike = (a: PlainCharge, b: PlainCharge): boolean =>
  a.admit.keyHash === b.admit.keyHash &&
  ADMIT.names.every((name) => a.admit[name] === b.admit[name]) &&
  SHARED_VERIFY.every((name) => a.verify[name] === b.verify[name]) &&
  a.verify.filterKeys.ip === b.verify.filterKeys.ip &&
  SHARED_RECORD.every((name) => a.record[name] === b.record[name]);

export const batchWriter = ({ node, now, known }: BatchHead) => {
  const values: unknown[] = [node, now, known];
  let last: PlainCharge | null = null;
  return {
    values,
    admit(request: AdmissionRequest, decision: Decision | null): void {
      const plain = plainCharge(request, decision);
      if (plain !== null && last !== null && isLike(plain, last)) {
        values.push('like');
        pushFilterKeys(values, plain.verify.filterKeys);
        OWN_RECORD.push(values, plain.record);
        return;
      }
      last = plain;
      values.push('admit', request.keyHash);
      ADMIT.push(values, request);
      pushOrNull(values, REPLY_REF, request.idempotency);
      pushVerify(values, request.verify, decision);
    },
    settle(settlement: Settlement): void {
      values.push('settle');
      CALLER.push(values, settlement.caller);
      SETTLE.push(values, settlement);
      pushOrNull(values, REPLY_REF, settlement.idempotency);
      pushRecord(values, settlement.record);
    },
  };
};

export function readBatch(values: readonly unknown[]): BatchHead & { requests: ChargeRequest[] } {
  const from = new Reader(values);
  const head = { node: from.next<string>(), now: from.next<number>(), known: from.next<number>() };
  const requests: ChargeRequest[] = [];
  let last: AdmissionRequest | null = null;
  while (!from.ended) {
    const kind = from.next<ChargeRequest['kind'] | 'like'>();
    if (kind === 'settle') requests.push({ kind, settle: readSettle(from), enter });
    else {
      last = kind === 'admit' ? readAdmit(from) : readLike(from, last);
      requests.push({ kind: 'admit', admit: last, enter });
    }
  }
  return { ...head, requests };
}
const enter = () => true;

function readLike(from: Reader, last: AdmissionRequest | null): AdmissionRequest {
  const verify = last?.verify ?? null;
  const record = verify?.decide(null) ?? null;
  if (last === null || verify === null || record === null) throw new TypeError('There is no charge before this one.');
  const filterKeys = readFilterKeys(from);
  const own = { ...record, ...OWN_RECORD.read(from) };
  return { ...last, verify: { ...verify, id: own.id, filterKeys, decide: decider(null, own) } };
}

/** A text costs less to copy than an array. */
function pushFilterKeys(to: unknown[], { email, mailbox, domains, ip, mxHosts }: FilterKeys): void {
  to.push(email, mailbox === email ? SAME : mailbox, domains.join(' '), ip, mxHosts?.join(' ') ?? null);
}
function readFilterKeys(from: Reader): FilterKeys {
  const [email, mailbox] = [from.next<string | null>(), from.next<string | null>()];
  const [domains, ip, mxHosts] = [from.next<string>(), from.next<string | null>(), from.next<string | null>()];
  return {
    email,
    mailbox: mailbox === SAME ? email : mailbox,
    domains: namesIn(domains),
    ip,
    mxHosts: mxHosts === null ? null : namesIn(mxHosts),
  };
}
/** The mailbox of most addresses is written as they are. */
const SAME = '';
const namesIn = (text: string): string[] => (text === '' ? [] : text.split(' '));

function pushVerify(to: unknown[], verify: VerifyAdmission | null, decision: Decision | null): void {
  if (verify === null || decision === null) {
    to.push(false);
    return;
  }
  pushOrNull(to, VERIFY, verify);
  pushFilterKeys(to, verify.filterKeys);
  to.push(ruleOf(decision.filter));
  pushRecord(to, decision.record);
}
function readVerify(from: Reader): VerifyAdmission | null {
  const plain = readOrNull(from, VERIFY);
  if (plain === null) return null;
  const filterKeys = readFilterKeys(from);
  return { ...plain, filterKeys, decide: decider(from.next<string | null>(), readRecord(from)) };
}
/** What a filter is and does: it may be changed while a decision is under way. */
const ruleOf = (filter: FilterRule | null): string | null => filter && `${filter.action} ${filter.id}`;

/** `record`: what was decided for this filter. */
const decider =
  (rule: string | null, record: VerificationRecord | null): VerifyAdmission['decide'] =>
  (filter) => {
    if (ruleOf(filter) !== rule) throw new UndecidedError(filter);
    return record;
  };

function readAdmit(from: Reader): AdmissionRequest {
  const keyHash = from.next<AdmissionRequest['keyHash']>();
  const plain = ADMIT.read(from);
  return { keyHash, ...plain, idempotency: readOrNull(from, REPLY_REF), verify: readVerify(from) };
}

function readSettle(from: Reader): Settlement {
  const [caller, plain] = [CALLER.read(from), SETTLE.read(from)];
  return { caller, ...plain, idempotency: readOrNull(from, REPLY_REF), record: readRecord(from) };
}

type ErrorValues = readonly [code: ErrorCode | null, message: string, details: ApiError['details']];

export function writeAnswers(events: readonly StoreEvent[], answers: readonly ChargeAnswer[]): unknown[] {
  const to: unknown[] = [events];
  let last: Caller | null = null;
  for (const answer of answers) {
    if ('error' in answer) {
      pushError(to, answer.error);
      continue;
    }
    const value = 'value' in answer ? answer.value : null;
    if (!isAdmission(value) || value.outcome !== 'settled') {
      to.push('value', value);
      continue;
    }
    // The record is known to who sent it.
    const { caller, window, balance, completed = null } = value;
    if (last === null || last.keyId !== caller.keyId || last.accountId !== caller.accountId) to.push('caller', caller);
    last = caller;
    to.push('settled', balance, completed);
    WINDOW.push(to, window);
  }
  return to;
}

function pushError(to: unknown[], error: unknown): void {
  if (error instanceof UndecidedError) {
    to.push('undecided', error.filter);
    return;
  }
  const values: ErrorValues =
    error instanceof ApiError ? [error.code, error.message, error.details] : [null, String(error), {}];
  to.push('error', ...values);
}

/** Like an answer; `undecided`: nothing was recorded, because `decide` has to be called with this filter first. */
export type SentAnswer =
  | Exclude<ChargeAnswer, { held: true } | { dropped: true }>
  | { readonly undecided: FilterRule | null };

/** `decisions`: those sent, in order. */
export function readAnswers(
  values: readonly unknown[],
  decisions: readonly (Decision | null)[],
): { events: readonly StoreEvent[]; answers: SentAnswer[] } {
  const from = new Reader(values);
  const events = from.next<readonly StoreEvent[]>();
  const answers: SentAnswer[] = [];
  let caller: Caller | null = null;
  while (!from.ended) {
    const kind = from.next<'caller' | 'settled' | 'value' | 'undecided' | 'error'>();
    if (kind === 'caller') caller = from.next();
    else if (kind === 'value') answers.push({ value: from.next() });
    else if (kind === 'undecided') answers.push({ undecided: from.next() });
    else if (kind === 'error') answers.push({ error: readError(from) });
    else answers.push({ value: readSettled(from, caller, decisions[answers.length]?.record ?? null) });
  }
  return { events, answers };
}

function readSettled(from: Reader, caller: Caller | null, record: VerificationRecord | null): Admission {
  const [balance, completed] = [from.next<number>(), from.next<CompletedReply | null>()];
  const window = WINDOW.read(from);
  if (caller === null || record === null) throw new TypeError('A charge was answered that was not asked for.');
  return { outcome: 'settled', caller, window, record, ...(completed === null ? {} : { completed }), balance };
}

function readError(from: Reader): Error {
  const [code, message] = [from.next<ErrorCode | null>(), from.next<string>()];
  const details = from.next<ApiError['details']>();
  return code === null ? new Error(message) : new ApiError(code, message, details);
}

// Outcomes of one list as a message between threads: a flat array of plain values, as in charge-message.ts.

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
