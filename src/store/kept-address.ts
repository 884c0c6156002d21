/**
 * What is kept of a verification where the store is to keep no addresses (MAILVET_STORE_ADDRESSES): hashes, by which a
 * whole address is found, and the verdict without whatever has a part of the address in it.
 */
import { storable } from './rows.ts';
import type { VerificationRecord } from './store.ts';

type Recorded = Pick<VerificationRecord, 'email' | 'body' | 'keptAs'>;

export const keptEmail = ({ email, keptAs = null }: Recorded): string => keptAs?.email ?? storable(email);

/** Fields of a reply that have the address, a part of it, or words of others about it. */
interface KeptReply {
  readonly decision?: object | null;
  readonly checks: {
    readonly filter: { readonly filter_type?: string; readonly value?: string };
    readonly smtp: object;
  };
  readonly evidence?: { readonly smtp: object | null };
}

/** Returns JSON, as `body` is. */
export function keptBody({ body, keptAs = null }: Recorded): string {
  if (keptAs === null) return body;
  const reply: KeptReply = JSON.parse(body);
  const { filter, smtp } = reply.checks;
  const { value: _, ...otherFilter } = filter;
  const kept = {
    ...reply,
    email: keptAs.email,
    canonical_email: keptAs.mailbox,
    did_you_mean: null,
    normalized_email: null,
    local_part: null,
    tag: null,
    decision: reply.decision ? { ...reply.decision, message: null } : (reply.decision ?? null),
    checks: {
      ...reply.checks,
      filter: filter.filter_type === 'email' ? otherFilter : filter,
      smtp: 'message' in smtp ? { ...smtp, message: null } : smtp,
    },
    ...(reply.evidence?.smtp
      ? { evidence: { ...reply.evidence, smtp: { ...reply.evidence.smtp, transcript: [] } } }
      : {}),
  };
  return JSON.stringify(kept);
}
