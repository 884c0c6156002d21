/** What mail servers answered to each egress, by the hour, and what that says against it. Bounded: a day of hours. */
import { type Clock, HOUR_MS } from '../../kernel/clock.ts';
import type { Advice } from '../../kernel/doctor-checks.ts';
import type { SmtpEvidence } from '../evidence.ts';
import { SMTP_FINDINGS } from '../findings.ts';
import { PROXY_FAILED } from './dialogue.ts';

export const EGRESS_CONDITIONS = ['ok', 'port_closed', 'refused_everywhere'] as const;
export type EgressCondition = (typeof EGRESS_CONDITIONS)[number];

const HOURS_KEPT = 24;

export interface EgressShares {
  /** Checks that were dialled, or whose SOCKS server failed. */
  readonly checks: number;
  /** Shares of them, from 0 to 1; null without any. */
  readonly blocked: number | null;
  readonly deferred: number | null;
  readonly proxyFailed: number | null;
  /** Mean time to the end of the check. */
  readonly answerMs: number | null;
}

interface HourOfChecks {
  readonly at: number;
  checks: number;
  blocked: number;
  deferred: number;
  proxyFailed: number;
  ms: number;
}

export class EgressRecord {
  readonly #clock: Clock;
  /** The newest is last. */
  #hours: HourOfChecks[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note({ finding, host, rule, decidedBy }: SmtpEvidence, tookMs: number): void {
    if ((host === null && rule !== PROXY_FAILED) || decidedBy === 'cancelled') return;
    const hour = this.#current();
    hour.checks++;
    hour.ms += tookMs;
    if (SMTP_FINDINGS[finding].egress === 'blocks') hour.blocked++;
    if (finding === 'greylisted' || finding === 'smtp_temporary_failure') hour.deferred++;
    if (rule === PROXY_FAILED) hour.proxyFailed++;
  }

  /** Sums the hour that runs and those before it, `hours` in all. */
  shares(hours: 1 | 24): EgressShares {
    const from = this.#hourNow() - hours;
    const sum = { checks: 0, blocked: 0, deferred: 0, proxyFailed: 0, ms: 0 };
    for (const hour of this.#hours) {
      if (hour.at <= from) continue;
      sum.checks += hour.checks;
      sum.blocked += hour.blocked;
      sum.deferred += hour.deferred;
      sum.proxyFailed += hour.proxyFailed;
      sum.ms += hour.ms;
    }
    const share = (n: number) => (sum.checks === 0 ? null : Math.round((n / sum.checks) * 1000) / 1000);
    return {
      checks: sum.checks,
      blocked: share(sum.blocked),
      deferred: share(sum.deferred),
      proxyFailed: share(sum.proxyFailed),
      answerMs: sum.checks === 0 ? null : Math.round(sum.ms / sum.checks),
    };
  }

  #hourNow(): number {
    return Math.floor(this.#clock.elapsed() / HOUR_MS);
  }

  #current(): HourOfChecks {
    const at = this.#hourNow();
    const last = this.#hours.at(-1);
    if (last?.at === at) return last;
    const hour = { at, checks: 0, blocked: 0, deferred: 0, proxyFailed: 0, ms: 0 };
    this.#hours = [...this.#hours.filter((one) => one.at > at - HOURS_KEPT), hour];
    return hour;
  }
}

/** Shares from which they are worth a remark, and the checks that it takes. */
const REMARKABLE = { blocked: 0.1, deferred: 0.3, proxyFailed: 0.05, checks: 20 } as const;

/** Says what its state and the answers of a day have against an egress. */
export function problemsOf(state: EgressCondition | 'resting', day: EgressShares): Advice[] {
  const found: Advice[] = state === 'ok' ? [] : [STATE_PROBLEMS[state]];
  if (day.checks < REMARKABLE.checks) return found;
  for (const share of ['proxyFailed', 'blocked', 'deferred'] as const)
    if ((day[share] ?? 0) >= REMARKABLE[share]) found.push(SHARE_PROBLEMS[share]);
  return found;
}

const STATE_PROBLEMS: Readonly<Record<Exclude<EgressCondition, 'ok'> | 'resting', Advice>> = {
  resting: {
    problem: 'proxy_fails',
    fix: 'Its SOCKS server fails: see that it runs, can be reached and takes the password.',
  },
  port_closed: {
    problem: 'port_closed',
    fix: 'It reaches no mail server: have outbound port 25 opened, or ask from another host.',
  },
  refused_everywhere: {
    problem: 'refused_everywhere',
    fix: 'All large providers refuse its address: check reverse DNS and blocklists with mailvet doctor.',
  },
};

const SHARE_PROBLEMS: Readonly<Record<'proxyFailed' | 'blocked' | 'deferred', Advice>> = {
  proxyFailed: {
    problem: 'proxy_fails_often',
    fix: 'Its SOCKS server fails now and then: see its log, its limits and the way to it.',
  },
  blocked: {
    problem: 'often_refused',
    fix: 'Many servers refuse its address: check reverse DNS, SPF and blocklists with mailvet doctor.',
  },
  deferred: {
    problem: 'often_deferred',
    fix: 'Many servers defer it: give it reverse DNS that matches its HELO name, and let lists take their time.',
  },
};
