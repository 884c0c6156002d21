import { judge, type Reason } from '../../engine/judge.ts';
import type { AskerState } from '../../engine/smtp/asker.ts';
import { begin, finish, type Tools } from '../../engine/verify.ts';
import { Refusal } from '../../kernel/errors.ts';
import type { JudgeAddress } from './sign-up.ts';

/** Somebody waits before the page. */
const WITHIN_MS = 8000;

const WHY: Partial<Record<Reason, string>> = {
  invalid_format: 'email is not an address that mail can be sent to.',
  disposable_domain: 'email is an address to be thrown away: give one that stays.',
  domain_not_found: "email's domain does not exist.",
  no_mx_records: "email's domain takes no mail.",
  null_mx: "email's domain takes no mail.",
  mx_unusable: "email's domain names no mail server that can be reached.",
  dns_failure: "email's domain cannot be looked up: its name servers do not answer rightly.",
  mailbox_not_found: 'email has no mailbox at its domain.',
  mailbox_full: 'email has a mailbox that is full.',
  mailbox_disabled: 'email has a mailbox that is shut.',
  relay_denied: "email's mail server takes no mail for its domain.",
};

/** By the engine itself: its mail server is asked too where this host is fit to ask. Nothing is charged or recorded. */
export function judgeBy(tools: Tools & { askerState(): AskerState | null }): JudgeAddress {
  return async (email) => {
    const level = tools.askerState()?.state === 'ok' ? 'smtp' : 'mx';
    const evidence = await finish(begin(email, level, tools), { timeoutMs: WITHIN_MS }, tools);
    const verdict = judge(evidence);
    if (verdict === null) {
      const sentence = 'The address cannot be checked right now, as no DNS resolver answers.';
      throw new Refusal('verification_unavailable', sentence, { retry_after: 5 });
    }
    if (verdict.status === 'good') return { good: true };
    const why = (verdict.reason && WHY[verdict.reason]) ?? 'Mail to email would not arrive.';
    return { good: false, why: evidence.didYouMean === null ? why : `${why} Did you mean ${evidence.didYouMean}?` };
  };
}
