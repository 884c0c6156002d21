/** Between evidence and store, for single verifications and those of lists alike. */
import { canonicalAddress, parentDomains } from '../engine/address/canonical.ts';
import type { Evidence } from '../engine/evidence.ts';
import { report } from '../engine/report.ts';
import type { Verdict } from '../engine/verdict.ts';
import { type EngineDeps, withFilter } from '../engine/verify.ts';
import type { Level } from '../kernel/facts/plans.ts';
import type { Via } from '../kernel/log-origins.ts';
import type { Filter, FilterKeys, VerificationRecord } from '../store/store.ts';

interface Asked {
  readonly email: string;
  readonly level: Level;
  /** Canonical; null: unknown. */
  readonly clientIp: string | null;
  readonly withEvidence: boolean;
  /** Of the request; none by default. */
  readonly warnings?: readonly string[];
  /** Null by default: our own contract. */
  readonly via?: Via | null;
}

/** `started`: `Clock.elapsed()` ms. */
export function toRecord(
  engine: EngineDeps,
  { email, level, clientIp, withEvidence, warnings, via = null }: Asked,
  { id, started }: { readonly id: string; readonly started: number },
  e: Evidence,
  verdict: Verdict,
): VerificationRecord {
  const durationMs = engine.clock.elapsed() - started;
  return {
    id,
    email,
    requested: level,
    validationType: verdict.level,
    status: verdict.status,
    deliverability: verdict.deliverability,
    reason: verdict.reason,
    credits: verdict.credits,
    clientIp,
    durationMs: Math.round(durationMs),
    via,
    body: JSON.stringify(report(e, verdict, { id, durationMs, at: engine.clock.now(), withEvidence, warnings })),
  };
}

export const withMatch = (e: Evidence, { id, filterType, value }: Filter): Evidence =>
  withFilter(e, { id, filter_type: filterType, value });

const NO_KEYS: FilterKeys = { email: null, domains: [], ip: null };

/** A malformed address has no canonical form to match, so no filter applies. */
export function filterKeys(e: Evidence, clientIp: string | null): FilterKeys {
  if (e.syntax.result === 'fail') return NO_KEYS;
  return {
    email: canonicalAddress(e.syntax.address),
    domains: parentDomains(e.syntax.address.domain),
    ip: clientIp,
  };
}
