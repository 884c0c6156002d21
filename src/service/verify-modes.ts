/** How an address is checked: in live mode by the engine, in test mode by what its local part selects. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Evidence } from '../engine/evidence.ts';
import { testEvidence } from '../engine/test-mode/evidence.ts';
import { delayOf, outcomeOf, outOfTime, selectorOf } from '../engine/test-mode/outcomes.ts';
import { type EngineDeps, runFromCache, runOffline, runOnline } from '../engine/verify.ts';
import { TEST_WAITING_MAX } from '../kernel/facts/limits.ts';
import type { Level } from '../kernel/facts/plans.ts';
import { simulatedError } from './test-errors.ts';

interface CheckRequest {
  readonly email: string;
  readonly level: Level;
  readonly timeoutMs: number;
  readonly signal: () => AbortSignal;
}

export interface Check {
  /** What filters are matched by. */
  readonly offline: Evidence;
  /** The complete evidence where nothing has to be waited for; else null. */
  readonly known: Evidence | null;
  /** The complete evidence. Throws ApiError. `tenant`: see MailboxLimit. */
  finish(tenant: string): Promise<Evidence>;
}

export interface VerifyMode {
  begin(request: CheckRequest): Check;
  /** Maximum of checks that wait. */
  readonly maxRunning: number;
  /** Whether verdicts have a price. */
  readonly charges: boolean;
}

export const liveMode = (engine: EngineDeps, maxRunning: number): VerifyMode => ({
  begin({ email, level, timeoutMs, signal }) {
    const offline = runOffline(email, level, engine);
    const finish = (tenant: string) => runOnline(offline, { timeoutMs, signal: signal(), tenant }, engine);
    return { offline, known: runFromCache(offline, engine), finish };
  },
  maxRunning,
  charges: true,
});

export const testMode = ({ lists }: Pick<EngineDeps, 'lists'>): VerifyMode => ({
  begin({ email, level, timeoutMs, signal }) {
    const selector = selectorOf(email);
    const delayMs = delayOf(selector);
    const outcome = delayMs > timeoutMs ? outOfTime(level) : outcomeOf(selector);
    const evidence = testEvidence(email, level, outcome, lists().version);
    const error = simulatedError(selector);
    return {
      offline: evidence,
      known: delayMs > 0 || error !== null ? null : evidence,
      async finish() {
        if (error !== null) throw error;
        await wait(Math.min(delayMs, timeoutMs), signal());
        return evidence;
      },
    };
  },
  maxRunning: TEST_WAITING_MAX,
  charges: false,
});

/** Ends early when the client has gone. */
async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
