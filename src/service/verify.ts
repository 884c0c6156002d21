import { decideVerdict } from '../engine/decide-verdict.ts';
import { RESOLVER_PROBLEMS, resolverProblem } from '../engine/dns/resolver.ts';
import type { Evidence } from '../engine/evidence.ts';
import type { Verdict } from '../engine/verdict.ts';
import type { EngineDeps } from '../engine/verify.ts';
import { ApiError } from '../kernel/errors.ts';
import type { Level } from '../kernel/facts/plans.ts';
import { newId } from '../kernel/ids.ts';
import type { Via } from '../kernel/log-origins.ts';
import type {
  Admission,
  AdmissionRequest,
  Caller,
  Charging,
  Filter,
  IdempotencyRef,
  VerificationRecord,
} from '../store/store.ts';
import { filterKeys, toRecord, withMatch } from './verdict-record.ts';
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
  /** The contract through which it came; null by default: our own. */
  readonly via?: Via | null;
  /** Of the request, for its reply; none by default. */
  readonly warnings?: readonly string[];
  /**
   * Aborted when the client disconnects: the dialogue ends with QUIT, the evidence so far is recorded and charged.
   * Called only by a check that has to wait.
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
  /** Calls of `verify` so far. */
  readonly calls: number;
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
 * Admission → engine → verdict → settlement. An immediate verdict is decided inside the admission's transaction;
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
  let calls = 0;
  const runningIn = (mode: VerifyMode): number => running.get(mode) ?? 0;

  const recordOf = ({ request, mode, id, started }: Run, e: Evidence, verdict: Verdict): VerificationRecord =>
    toRecord(engine, request, { id, started }, e, mode.charges ? verdict : { ...verdict, credits: 0 });

  async function runChecks(run: Run, caller: Caller) {
    const evidence = await run.check.finish(caller.accountId);
    const verdict = decideVerdict(evidence);
    if (verdict === null) {
      const { found } = RESOLVER_PROBLEMS[resolverProblem(evidence.dns?.failure ?? null)];
      throw new ApiError('verification_unavailable', `There is no verdict: ${found}. Nothing was charged.`, {
        retry_after: 5,
      });
    }
    return { evidence, record: recordOf(run, evidence, verdict) };
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
    get calls() {
      return calls;
    },
    async verify(request) {
      calls += 1;
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
        decided = filter === null ? known : withMatch(offline, filter);
        const verdict = decided && decideVerdict(decided);
        return decided && verdict && recordOf(run, decided, verdict);
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
