import type { Report, Verifier } from '../index.ts';

/** Stands where the reason would where no resolver answered: such rows can be asked again. */
export const UNANSWERED = 'verification_unavailable';

/** What programs read in place of a result. */
export const unanswered = (email: string) => ({ email, status: null, reason: UNANSWERED });

/** One verdict, or null when no resolver answers anybody: an outage takes no other address's verdict with it. */
export async function verdictOf(
  verifier: Verifier,
  email: string,
  ask: Parameters<Verifier['verify']>[1],
): Promise<Report | null> {
  try {
    return await verifier.verify(email, ask);
  } catch (error) {
    if ((error as Error).name !== 'VerificationUnavailableError') throw error;
    return null;
  }
}
