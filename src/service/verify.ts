import { canonicalAddress, parentDomains } from '../engine/address/canonical.ts';
import { cidrsContaining } from '../engine/address/ip.ts';
import type { Evidence } from '../engine/evidence.ts';
import { judge, type Verdict } from '../engine/judge.ts';
import { report } from '../engine/report.ts';
import { begin, finish, finishNow, type Tools, withFilter } from '../engine/verify.ts';
import { Refusal } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { Level } from '../kernel/plans.ts';
import type {
  Admission,
  AdmissionRequest,
  Caller,
  Charging,
  Filter,
  IdempotencyRef,
  VerificationRecord,
} from '../store/store.ts';

export interface VerifyAsk {
  /** Of an API key; or the account that a signed-in person verifies for. */
  readonly keyHash: AdmissionRequest['keyHash'];
  /** Canonical IP of the caller. */
  readonly ip: string;
  readonly idempotency: IdempotencyRef | null;
  readonly email: string;
  readonly level: Level;
  /** Canonical; the caller's own where the request names no other. */
  readonly clientIp: string;
  readonly timeoutMs: number;
  readonly withEvidence: boolean;
  /** Aborted when the client is gone: the dialogue ends politely, what was found is recorded and charged. */
  readonly signal: AbortSignal;
}

export type VerifyOutcome =
  | Extract<Admission, { outcome: 'refused' | 'replay' }>
  | {
      readonly outcome: 'answered';
      readonly admission: Exclude<Admission, { outcome: 'refused' }>;
      readonly record: VerificationRecord;
      readonly balance: number;
    }
  /** The caller is known and was counted, but there is no verdict; nothing was charged. */
  | {
      readonly outcome: 'failed';
      readonly admission: Exclude<Admission, { outcome: 'refused' }>;
      readonly error: unknown;
    };

export interface VerifyService {
  verify(ask: VerifyAsk): Promise<VerifyOutcome>;
  /** Checks under way that wait for DNS or a mail server. */
  readonly running: number;
}

/** How long after its budget a hold may be released by others: the settlement's own queue and commit. */
const HOLD_GRACE_MS = 30_000;

/**
 * Admission → engine → judge → settlement. A verdict that waits for nobody is decided inside the admission's own
 * transaction; any other is held for, worked out, and settled. Whatever goes wrong in between gives the hold back.
 */
export function createVerifyService(options: {
  charging: Charging;
  tools: Tools;
  /** Checks under way at once; beyond it the answer is 503 `overloaded` before anything is held. */
  maxRunning: number;
  onVerdict?: (record: VerificationRecord, evidence: Evidence, caller: Caller) => void;
}): VerifyService {
  const { charging, tools, maxRunning, onVerdict } = options;
  let running = 0;

  function toRecord(ask: VerifyAsk, id: string, started: number, e: Evidence, verdict: Verdict): VerificationRecord {
    const durationMs = tools.clock.elapsed() - started;
    const at = tools.clock.now();
    const result = report(e, verdict, { id, durationMs, at, withEvidence: ask.withEvidence });
    return {
      id,
      email: ask.email,
      requested: ask.level,
      validationType: verdict.level,
      status: verdict.status,
      deliverability: verdict.deliverability,
      reason: verdict.reason,
      credits: verdict.credits,
      clientIp: ask.clientIp,
      durationMs: Math.round(durationMs),
      body: JSON.stringify(result),
    };
  }

  /** Works out a verdict that the hold was taken for. */
  async function workOut(ask: VerifyAsk, id: string, started: number, begun: Evidence) {
    const evidence = await finish(begun, { timeoutMs: ask.timeoutMs, signal: ask.signal }, tools);
    const verdict = judge(evidence);
    if (verdict === null) {
      throw new Refusal('verification_unavailable', 'The DNS resolver answers nobody right now; nothing was charged.', {
        retry_after: 5,
      });
    }
    return { evidence, record: toRecord(ask, id, started, evidence, verdict) };
  }

  async function settle(ask: VerifyAsk, caller: Caller, id: string, started: number, begun: Evidence) {
    const settlement = { caller, holdId: id, idempotency: ask.idempotency };
    running += 1;
    try {
      const { evidence, record } = await workOut(ask, id, started, begun).catch(async (error: unknown) => {
        await charging.settle({ ...settlement, record: null });
        throw error;
      });
      const { balance } = await charging.settle({ ...settlement, record });
      onVerdict?.(record, evidence, caller);
      return { record, balance };
    } finally {
      running -= 1;
    }
  }

  return {
    get running() {
      return running;
    },
    async verify(ask) {
      const started = tools.clock.elapsed();
      const begun = begin(ask.email, ask.level, tools);
      const known = finishNow(begun, tools);
      if (known === null && running >= maxRunning) throw new Refusal('overloaded', undefined, { retry_after: 1 });
      const id = newId('ver', tools.clock.now());
      let decided: Evidence | null = null;
      const decide = (filter: Filter | null) => {
        decided = filter === null ? known : withFilter(begun, toMatch(filter));
        const verdict = decided && judge(decided);
        return decided && verdict && toRecord(ask, id, started, decided, verdict);
      };
      const request: AdmissionRequest = {
        keyHash: ask.keyHash,
        ip: ask.ip,
        invalid: false,
        idempotency: ask.idempotency,
        verify: {
          id,
          level: ask.level,
          filterKeys: filterKeys(begun, ask.clientIp),
          holdMs: ask.timeoutMs + HOLD_GRACE_MS,
          decide,
        },
      };
      const admission = await charging.admit(request);
      switch (admission.outcome) {
        case 'refused':
        case 'replay':
          return admission;
        case 'settled':
          onVerdict?.(admission.record, decided ?? begun, admission.caller);
          return { outcome: 'answered', admission, record: admission.record, balance: admission.balance };
        case 'admitted':
          try {
            const { record, balance } = await settle(ask, admission.caller, id, started, begun);
            return { outcome: 'answered', admission, record, balance };
          } catch (error) {
            return { outcome: 'failed', admission, error };
          }
      }
    },
  };
}

const toMatch = (f: Filter) => ({ id: f.id, filter_type: f.filterType, value: f.value });

const NO_KEYS = { email: null, domains: [], ips: () => [] };

/** A malformed address ends before the filters: there is nothing canonical to match. */
function filterKeys(e: Evidence, clientIp: string) {
  if (e.syntax.result === 'fail') return NO_KEYS;
  return {
    email: canonicalAddress(e.syntax.address),
    domains: parentDomains(e.syntax.address.domain),
    ips: () => cidrsContaining(clientIp),
  };
}
