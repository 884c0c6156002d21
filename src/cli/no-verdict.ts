import type { Report, Verifier } from '../index.ts';
import type { ErrorCode } from '../kernel/errors.ts';
import { type Decision, decide, decideOutage, type Policy } from '../kernel/facts/policies.ts';

/** Reported as the reason if no resolver answered; the address can be verified again later. */
export const NO_VERDICT = 'verification_unavailable' satisfies ErrorCode;

/** The JSON line stands in place of a result. */
export const noVerdict = (email: string) => ({ email, status: null, reason: NO_VERDICT });

/** Null if no resolver answers, so that an outage does not fail the whole batch. */
export async function verifyOrNull(
  verifier: Verifier,
  email: string,
  options: Parameters<Verifier['verify']>[1],
): Promise<Report | null> {
  try {
    return await verifier.verify(email, options);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'VerificationUnavailableError') throw error;
    return null;
  }
}

/** What a policy says of a result, or of none; nothing without a policy. */
export function decidedBy(policy: Policy | null, result: Report | null): { readonly decision?: Decision } {
  if (policy === null) return {};
  return { decision: result === null ? decideOutage(policy) : decide(policy, result) };
}
