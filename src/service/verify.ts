import { canonicalAddress, parentDomains } from '../engine/address/canonical.ts';
import { decideVerdict } from '../engine/decide-verdict.ts';
import { problemOf, RESOLVER_PROBLEMS } from '../engine/dns/problems.ts';
import type { Evidence } from '../engine/evidence.ts';
import { report } from '../engine/report.ts';
import type { Verdict } from '../engine/verdict.ts';
import { type EngineDeps, runFromCache, runOffline, runOnline, withFilter } from '../engine/verify.ts';
import { ApiError } from '../kernel/errors.ts';
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

interface VerifyRequest {
  /** Hash of the API key; or the account for a verification in the dashboard. */
  readonly keyHash: AdmissionRequest['keyHash'];
  /** Canonical IP of the caller. */
  readonly ip: string;
  readonly idempotency: IdempotencyRef | null;
  readonly email: string;
  readonly level: Level;
  /** Canonical; default: the caller's IP. */
  readonly clientIp: string;
  readonly timeoutMs: number;
  readonly withEvidence: boolean;
  /**
   * Aborted when the client disconnects: the dialogue ends with QUIT, the evidence so far is recorded and charged. Called only
   * by a check that has to wait.
   */
  readonly signal: () => AbortSignal;
  /** Whether the client has gone. */
  readonly gone: () => boolean;
}

type VerifyOutcome =
  | Extract<Admission, { outcome: 'refused' | 'replay' }>
  | {
      readonly outcome: 'answered';
      readonly admission: Exclude<Admission, { outcome: 'refused' }>;
      readonly record: VerificationRecord;
      readonly balance: number;
    }
  /** Authenticated and counted, but without a verdict; nothing was charged. */
  | {
      readonly outcome: 'failed';
      readonly admission: Exclude<Admission, { outcome: 'refused' }>;
      readonly error: unknown;
    };

export interface VerifyService {
  verify(request: VerifyRequest): Promise<VerifyOutcome>;
  /** Checks waiting for DNS or a mail server. */
  readonly running: number;
}

/** Added to the time limit of the check: time to queue and commit the settlement before the hold expires. */
const HOLD_GRACE_MS = 30_000;

/**
 * Admission → engine → judge → settlement. An immediate verdict is decided inside the admission's transaction;
 * otherwise the price is held until settlement. Any error in between releases the hold.
 */
export function createVerifyService(options: {
  charging: Charging;
  tools: EngineDeps;
  /** Maximum of concurrent checks; beyond it, verify throws `overloaded` before anything is held. */
  maxRunning: number;
  onVerdict?: (record: VerificationRecord, evidence: Evidence, caller: Caller) => void;
}): VerifyService {
  const { charging, tools: engine, maxRunning, onVerdict } = options;
  let running = 0;

  function toRecord(
    request: VerifyRequest,
    id: string,
    started: number,
    e: Evidence,
    verdict: Verdict,
  ): VerificationRecord {
    const durationMs = engine.clock.elapsed() - started;
    const at = engine.clock.now();
    const result = report(e, verdict, { id, durationMs, at, withEvidence: request.withEvidence });
    return {
      id,
      email: request.email,
      requested: request.level,
      validationType: verdict.level,
      status: verdict.status,
      deliverability: verdict.deliverability,
      reason: verdict.reason,
      credits: verdict.credits,
      clientIp: request.clientIp,
      durationMs: Math.round(durationMs),
      body: JSON.stringify(result),
    };
  }

  async function runChecks(request: VerifyRequest, caller: Caller, id: string, started: number, offline: Evidence) {
    const limit = { timeoutMs: request.timeoutMs, signal: request.signal(), tenant: caller.accountId };
    const evidence = await runOnline(offline, limit, engine);
    const verdict = decideVerdict(evidence);
    if (verdict === null) {
      const { found } = RESOLVER_PROBLEMS[problemOf(evidence.dns?.failure ?? null)];
      throw new ApiError('verification_unavailable', `There is no verdict: ${found}. Nothing was charged.`, {
        retry_after: 5,
      });
    }
    return { evidence, record: toRecord(request, id, started, evidence, verdict) };
  }

  async function settle(request: VerifyRequest, caller: Caller, id: string, started: number, offline: Evidence) {
    const settlement = { caller, holdId: id, idempotency: request.idempotency };
    running += 1;
    try {
      const { evidence, record } = await runChecks(request, caller, id, started, offline).catch(
        async (error: unknown) => {
          await charging.settle({ ...settlement, record: null });
          throw error;
        },
      );
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
    async verify(request) {
      const started = engine.clock.elapsed();
      const offline = runOffline(request.email, request.level, engine);
      const known = runFromCache(offline, engine);
      if (known === null && running >= maxRunning) throw new ApiError('overloaded', undefined, { retry_after: 1 });
      const id = newId('ver', engine.clock.now());
      let decided: Evidence | null = null;
      const decide = (filter: Filter | null) => {
        decided = filter === null ? known : withFilter(offline, toMatch(filter));
        const verdict = decided && decideVerdict(decided);
        return decided && verdict && toRecord(request, id, started, decided, verdict);
      };
      const admissionRequest: AdmissionRequest = {
        keyHash: request.keyHash,
        scope: 'verify',
        ip: request.ip,
        invalid: false,
        idempotency: request.idempotency,
        gone: request.gone,
        verify: {
          id,
          level: request.level,
          filterKeys: filterKeys(offline, request.clientIp),
          holdMs: request.timeoutMs + HOLD_GRACE_MS,
          decide,
        },
      };
      const admission = await charging.admit(admissionRequest);
      switch (admission.outcome) {
        case 'refused':
        case 'replay':
          return admission;
        case 'settled':
          onVerdict?.(admission.record, decided ?? offline, admission.caller);
          return { outcome: 'answered', admission, record: admission.record, balance: admission.balance };
        case 'admitted':
          try {
            const { record, balance } = await settle(request, admission.caller, id, started, offline);
            return { outcome: 'answered', admission, record, balance };
          } catch (error) {
            return { outcome: 'failed', admission, error };
          }
      }
    },
  };
}

const toMatch = (f: Filter) => ({ id: f.id, filter_type: f.filterType, value: f.value });

const NO_KEYS = { email: null, domains: [], ip: null };

/** A malformed address has no canonical form to match, so no filter applies. */
function filterKeys(e: Evidence, clientIp: string) {
  if (e.syntax.result === 'fail') return NO_KEYS;
  return {
    email: canonicalAddress(e.syntax.address),
    domains: parentDomains(e.syntax.address.domain),
    ip: clientIp,
  };
}
