import { RESOLVER_PROBLEMS, resolverProblem } from '../../engine/dns/resolver.ts';
import { decideVerdict } from '../../engine/findings.ts';
import { type EngineDeps, runOffline, runOnline } from '../../engine/verify.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { Reason } from '../../kernel/facts/reasons.ts';
import type { CheckDeliverability } from './sign-up.ts';

/** A user is waiting for the reply. */
const CHECK_TIMEOUT_MS = 8000;

/** Why an address cannot be used to sign up; null: the reason does not make an address bad, or does not occur here. */
const WHY: Readonly<Record<Reason, string | null>> = {
  blocked_by_filter: null,
  bounced_before: null,
  invalid_format: 'email is not a valid email address.',
  disposable_domain: 'email is a disposable address: use a permanent one.',
  domain_not_found: "email's domain does not exist.",
  no_mx_records: "email's domain has no mail server.",
  null_mx: "email's domain does not accept mail.",
  mx_unusable: "email's domain has no mail server that can be reached.",
  dns_failure: "email's domain cannot be looked up: its name servers are failing.",
  catch_all: null,
  mailbox_not_found: null,
  mailbox_full: null,
  mailbox_disabled: null,
  relay_denied: null,
  greylisted: null,
  smtp_temporary_failure: null,
  smtp_timeout: null,
  smtp_unreachable: null,
  smtp_blocked: null,
  smtp_unverifiable: null,
};

/**
 * Runs the engine itself. Nothing is charged or recorded. Mail servers are not asked: whoever signs up is not
 * known, and would learn about any mailbox free of charge; their mail servers would be believed on behalf of all
 * accounts. The mailed link shows whether the mailbox exists.
 */
export function deliverabilityCheck(engine: EngineDeps): CheckDeliverability {
  return async (email) => {
    const limit = { timeoutMs: CHECK_TIMEOUT_MS, tenant: 'sign-up' };
    const evidence = await runOnline(runOffline(email, 'mx', engine), limit, engine);
    const verdict = decideVerdict(evidence);
    if (verdict === null) {
      const { found } = RESOLVER_PROBLEMS[resolverProblem(evidence.dns?.failure ?? null)];
      const sentence = `The address cannot be checked right now: ${found}.`;
      throw new ApiError('verification_unavailable', sentence, { retry_after: 5 });
    }
    if (verdict.status === 'good') return { good: true };
    const why = (verdict.reason && WHY[verdict.reason]) ?? 'email cannot receive mail.';
    return { good: false, why: evidence.didYouMean === null ? why : `${why} Did you mean ${evidence.didYouMean}?` };
  };
}
