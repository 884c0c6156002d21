import type { Evidence } from '../../engine/evidence.ts';
import type { Verdict } from '../../engine/findings.ts';
import { MINUTE_MS } from '../../kernel/clock.ts';

/** Minutes until a temporary answer is asked for again; later ones wait as long as the last. */
const USUAL_MINUTES = [5, 15, 30, 60] as const;

/** Milliseconds until a temporary answer is to be asked for again, after so many earlier ones; null: it is final. */
export function retryMs(e: Evidence, verdict: Verdict, earlier: number): number | null {
  if (!isTemporary(e, verdict)) return null;
  const announced = e.smtp?.retryAfter ?? null;
  const usual = USUAL_MINUTES[Math.min(earlier, USUAL_MINUTES.length - 1)] ?? 0;
  return announced === null ? usual * MINUTE_MS : announced * 1000;
}

/**
 * The domain's name servers fail, or the mail server deferred it; or our own limits, a circuit breaker or this host's
 * network are in the way.
 */
const isTemporary = ({ smtp }: Evidence, { reason }: Verdict): boolean =>
  reason === 'dns_failure' ||
  reason === 'greylisted' ||
  reason === 'smtp_temporary_failure' ||
  smtp?.decidedBy === 'throttle' ||
  smtp?.decidedBy === 'host';
