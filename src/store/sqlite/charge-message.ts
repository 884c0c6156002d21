/**
 * A batch of requests and its answers as messages between threads: flat arrays of plain values, written and read in the
 * same order.
 */
import { ApiError, type ErrorCode } from '../../kernel/errors.ts';
import { UndecidedError } from '../charge/admit.ts';
import type { Answer, ChargeRequest } from '../charge/state.ts';
import { isAdmission } from '../charge/waiting.ts';
import type {
  Admission,
  AdmissionRequest,
  Caller,
  Filter,
  IdempotencyRef,
  Settlement,
  StoreEvent,
  VerificationRecord,
  VerifyAdmission,
} from '../store.ts';
import { type Decision, isLike, type PlainCharge, plainCharge } from './like-charges.ts';

interface BatchHead {
  readonly node: string;
  readonly now: number;
  /** The schema version of this program. */
  readonly known: number;
}

/** Reads values in the order in which they were written. */
export class Reader {
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

export const batchWriter = ({ node, now, known }: BatchHead) => {
  const values: unknown[] = [node, now, known];
  let last: PlainCharge | null = null;
  return {
    values,
    admit(request: AdmissionRequest, decision: Decision | null): void {
      const plain = plainCharge(request, decision);
      if (plain !== null && last !== null && isLike(plain, last)) {
        pushLike(values, plain);
        return;
      }
      last = plain;
      const { keyHash, scope, ip, invalid, idempotency, verify } = request;
      const [hash, account] = typeof keyHash === 'string' ? [keyHash, null] : [null, keyHash.account];
      values.push('admit', hash, account, scope, ip, invalid);
      pushIdempotency(values, idempotency);
      if (verify === null || decision === null) values.push(null);
      else pushVerify(values, verify, decision);
    },
    settle({ caller, holdId, idempotency, record }: Settlement): void {
      values.push('settle', caller.accountId, caller.keyId, caller.plan, caller.test, holdId);
      pushIdempotency(values, idempotency);
      pushRecord(values, record);
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

/** What it does not share with the admission before it. */
function pushLike(to: unknown[], { verify: { id, filterKeys }, record }: PlainCharge): void {
  to.push('like', id, filterKeys.email, filterKeys.domains.join(' '), record.email, record.durationMs, record.body);
}
function readLike(from: Reader, last: AdmissionRequest | null): AdmissionRequest {
  const verify = last?.verify ?? null;
  const record = verify?.decide(null) ?? null;
  if (last === null || verify === null || record === null) throw new TypeError('There is no charge before this one.');
  const id = from.next<string>();
  const filterKeys = { email: from.next<string | null>(), domains: readDomains(from), ip: verify.filterKeys.ip };
  const own = { ...record, id, email: from.next<string>(), durationMs: from.next<number>(), body: from.next<string>() };
  return { ...last, verify: { ...verify, id, filterKeys, decide: decider(null, own) } };
}

function pushIdempotency(to: unknown[], idempotency: IdempotencyRef | null): void {
  if (idempotency === null) to.push(null);
  else to.push(idempotency.route, idempotency.key, idempotency.fingerprint);
}
function readIdempotency(from: Reader): IdempotencyRef | null {
  const route = from.next<string | null>();
  return route === null ? null : { route, key: from.next(), fingerprint: from.next() };
}

export function pushRecord(to: unknown[], record: VerificationRecord | null): void {
  if (record === null) {
    to.push(null);
    return;
  }
  const { id, email, requested, validationType, status, deliverability, reason, credits } = record;
  to.push(id, email, requested, validationType, status, deliverability, reason, credits);
  to.push(record.clientIp, record.durationMs, record.body, record.via ?? null);
}
export function readRecord(from: Reader): VerificationRecord | null {
  const id = from.next<string | null>();
  if (id === null) return null;
  return {
    id,
    email: from.next(),
    requested: from.next(),
    validationType: from.next(),
    status: from.next(),
    deliverability: from.next(),
    reason: from.next(),
    credits: from.next(),
    clientIp: from.next(),
    durationMs: from.next(),
    body: from.next(),
    via: from.next(),
  };
}

function pushVerify(to: unknown[], { id, level, test, filterKeys, holdMs }: VerifyAdmission, decision: Decision): void {
  const { email, domains, ip } = filterKeys;
  to.push(id, level, test, email, domains.join(' '), ip, holdMs, decision.filter?.id ?? null);
  pushRecord(to, decision.record);
}
function readVerify(from: Reader): VerifyAdmission | null {
  const id = from.next<string | null>();
  if (id === null) return null;
  const level = from.next<VerifyAdmission['level']>();
  const test = from.next<boolean>();
  const email = from.next<string | null>();
  const filterKeys = { email, domains: readDomains(from), ip: from.next<string | null>() };
  const holdMs = from.next<number>();
  const filterId = from.next<number | null>();
  const record = readRecord(from);
  return { id, level, test, filterKeys, holdMs, decide: decider(filterId, record) };
}
function readDomains(from: Reader): readonly string[] {
  const domains = from.next<string>();
  return domains === '' ? [] : domains.split(' ');
}
/** `record`: what was decided for this filter. */
const decider =
  (filterId: number | null, record: VerificationRecord | null): VerifyAdmission['decide'] =>
  (filter) => {
    if ((filter?.id ?? null) !== filterId) throw new UndecidedError(filter);
    return record;
  };

function readAdmit(from: Reader): AdmissionRequest {
  const hash = from.next<string | null>();
  const account = from.next<Caller['accountId']>();
  const keyHash = hash ?? { account };
  const [scope, ip, invalid] = [from.next<AdmissionRequest['scope']>(), from.next<string>(), from.next<boolean>()];
  return { keyHash, scope, ip, invalid, idempotency: readIdempotency(from), verify: readVerify(from) };
}

function readSettle(from: Reader): Settlement {
  const caller = {
    accountId: from.next<Caller['accountId']>(),
    keyId: from.next<string>(),
    plan: from.next<Caller['plan']>(),
    test: from.next<boolean>(),
  };
  return { caller, holdId: from.next(), idempotency: readIdempotency(from), record: readRecord(from) };
}

type ErrorValues = readonly [code: ErrorCode | null, message: string, details: ApiError['details']];

export function writeAnswers(events: readonly StoreEvent[], answers: readonly Answer[]): unknown[] {
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
    const { caller, window, balance } = value;
    if (last === null || last.keyId !== caller.keyId || last.accountId !== caller.accountId) to.push('caller', caller);
    last = caller;
    to.push('settled', window.limit, window.remaining, window.resetAt, balance);
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
export type SentAnswer = Exclude<Answer, { held: true } | { dropped: true }> | { readonly undecided: Filter | null };

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
  const window = { limit: from.next<number>(), remaining: from.next<number>(), resetAt: from.next<number>() };
  const balance = from.next<number>();
  if (caller === null || record === null) throw new TypeError('A charge was answered that was not asked for.');
  return { outcome: 'settled', caller, window, record, balance };
}

function readError(from: Reader): Error {
  const [code, message] = [from.next<ErrorCode | null>(), from.next<string>()];
  const details = from.next<ApiError['details']>();
  return code === null ? new Error(message) : new ApiError(code, message, details);
}
