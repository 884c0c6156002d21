import { canonicalAddress, parentDomains } from '../engine/address/canonical.ts';
import { decideVerdict } from '../engine/decide-verdict.ts';
import { problemOf, RESOLVER_PROBLEMS } from '../engine/dns/problems.ts';
import type { Evidence } from '../engine/evidence.ts';
import { report } from '../engine/report.ts';
import type { Verdict } from '../engine/verdict.ts';
import { type EngineDeps, withFilter } from '../engine/verify.ts';
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
import { type Check, liveMode, testMode, type VerifyMode } from './verify-modes.ts';

interface VerifyRequest {
  /** Hash of the API key; or the account for a verification in the dashboard. */
  readonly keyHash: AdmissionRequest['keyHash'];
  /** Whether the key or account is one of test mode. */
  readonly test: boolean;
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
  /** Checks waiting for DNS or a mail server, without those of test mode. */
  readonly running: number;
}

interface Run {
  readonly request: VerifyRequest;
  readonly mode: VerifyMode;
  readonly check: Check;
  readonly id: string;
  /** `Clock.elapsed()`. */
  readonly started: number;
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
  const modes = { live: liveMode(engine, maxRunning), test: testMode(engine) };
  const running = new Map<VerifyMode, number>();
  const runningIn = (mode: VerifyMode): number => running.get(mode) ?? 0;

  function toRecord(
    { request, mode, id, started }: Run,
    e: Evidence,
    { credits, ...judged }: Verdict,
  ): VerificationRecord {
    const verdict = { ...judged, credits: mode.charges ? credits : 0 };
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

  async function runChecks(run: Run, caller: Caller) {
    const evidence = await run.check.finish(caller.accountId);
    const verdict = decideVerdict(evidence);
    if (verdict === null) {
      const { found } = RESOLVER_PROBLEMS[problemOf(evidence.dns?.failure ?? null)];
      throw new ApiError('verification_unavailable', `There is no verdict: ${found}. Nothing was charged.`, {
        retry_after: 5,
      });
    }
    return { evidence, record: toRecord(run, evidence, verdict) };
  }

  async function settle(run: Run, caller: Caller) {
    const { mode } = run;
    const settlement = { caller, holdId: run.id, idempotency: run.request.idempotency };
    running.set(mode, runningIn(mode) + 1);
    try {
      const { evidence, record } = await runChecks(run, caller).catch(async (error: unknown) => {
        await charging.settle({ ...settlement, record: null });
        throw error;
      });
      const { balance } = await charging.settle({ ...settlement, record });
      onVerdict?.(record, evidence, caller);
      return { record, balance };
    } finally {
      running.set(mode, runningIn(mode) - 1);
    }
  }

  return {
    get running() {
      return runningIn(modes.live);
    },
    async verify(request) {
      const started = engine.clock.elapsed();
      const mode = request.test ? modes.test : modes.live;
      const check = mode.begin(request);
      const { offline, known } = check;
      if (known === null && runningIn(mode) >= mode.maxRunning)
        throw new ApiError('overloaded', undefined, { retry_after: 1 });
      const id = newId('ver', engine.clock.now());
      const run: Run = { request, mode, check, id, started };
      let decided: Evidence | null = null;
      const decide = (filter: Filter | null) => {
        decided = filter === null ? known : withFilter(offline, toMatch(filter));
        const verdict = decided && decideVerdict(decided);
        return decided && verdict && toRecord(run, decided, verdict);
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
          test: request.test,
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
            const { record, balance } = await settle(run, admission.caller);
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
