import type { Evidence, SmtpEvidence } from './evidence.ts';
import { ACCEPTED_VERDICTS, DNS_FINDINGS, OFFLINE_VERDICTS, SMTP_FINDINGS } from './findings.ts';
import type { Verdict } from './verdict.ts';

/**
 * The verdict, from evidence alone: the first conclusive stage decides, by its row in findings.ts. Returns null when
 * there is no verdict because our own resolver is down, which is an outage and not a finding.
 */
export function decideVerdict(e: Evidence): Verdict | null {
  if (e.syntax.result === 'fail') return OFFLINE_VERDICTS.syntax;
  if (e.filter.result === 'fail') return OFFLINE_VERDICTS.filter;
  if (e.disposable.result === 'fail') return OFFLINE_VERDICTS.disposable;
  if (e.dns === null) return null;
  const row = DNS_FINDINGS[e.dns.finding];
  return row.mx === 'pass' && e.smtp !== null ? mailboxVerdict(e.smtp, e.catchAll) : row.verdict;
}

function mailboxVerdict(smtp: SmtpEvidence, catchAll: Evidence['catchAll']): Verdict {
  const { verdict } = SMTP_FINDINGS[smtp.finding];
  if (verdict !== 'by_catch_all') return verdict;
  if (catchAll?.result === 'pass' || catchAll?.result === 'fail') return ACCEPTED_VERDICTS[catchAll.result];
  if (catchAll === null || catchAll.why === null) return ACCEPTED_VERDICTS.unknown;
  const { asProbe } = SMTP_FINDINGS[catchAll.why];
  return typeof asProbe === 'string' ? ACCEPTED_VERDICTS.unknown : asProbe;
}
