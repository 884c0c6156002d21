/** The doctor reports its checks in this order. */
export const DOCTOR_CHECKS = [
  'resolver',
  'port',
  'helo',
  'egress',
  'ptr',
  'spf',
  'blocklists',
  'lists',
  'store',
  'clock',
  'url',
  'proxies',
  'downloads',
  'mail',
] as const;
export type DoctorCheck = (typeof DOCTOR_CHECKS)[number];

const fails = <C extends DoctorCheck | null>(check: C) => ({ check, result: 'fail' }) as const;
const warns = <C extends DoctorCheck | null>(check: C) => ({ check, result: 'warn' }) as const;

/**
 * What may be wrong with an egress, by how many answers it costs: what keeps all of them away comes first, then what
 * many servers refuse a client for, then what makes them wary. Fixing the first one improves its answers most.
 */
export const EGRESS_PROBLEMS = [
  'no_helo_name',
  'proxy_fails',
  'not_of_this_host',
  'port_closed',
  'port_intercepted',
  'refused_everywhere',
  'helo_unqualified',
  'blocklisted',
  'ptr_missing',
  'ptr_unconfirmed',
  'helo_unresolved',
  'helo_elsewhere',
  'spf_denied',
  'spf_invalid',
  'proxy_fails_often',
  'often_refused',
  'ptr_differs',
  'spf_unauthorized',
  'blocklisted_minor',
  'spf_missing',
  'often_deferred',
] as const;
export type EgressProblem = (typeof EGRESS_PROBLEMS)[number];

/** How the doctor reports each. `check` null: it shows only in the answers of mail servers. */
export const PROBLEM_ROWS = {
  no_helo_name: fails('helo'),
  proxy_fails: fails('port'),
  not_of_this_host: fails('port'),
  port_closed: fails('port'),
  port_intercepted: fails('port'),
  refused_everywhere: fails('port'),
  helo_unqualified: fails('helo'),
  blocklisted: fails('blocklists'),
  ptr_missing: fails('ptr'),
  ptr_unconfirmed: fails('ptr'),
  helo_unresolved: fails('helo'),
  helo_elsewhere: fails('egress'),
  spf_denied: fails('spf'),
  spf_invalid: fails('spf'),
  proxy_fails_often: warns(null),
  often_refused: warns(null),
  ptr_differs: warns('ptr'),
  spf_unauthorized: warns('spf'),
  blocklisted_minor: warns('blocklists'),
  spf_missing: warns('spf'),
  often_deferred: warns(null),
} as const satisfies Readonly<Record<EgressProblem, { check: DoctorCheck | null; result: 'fail' | 'warn' }>>;

/** A problem, and what to do about it. */
export interface Advice {
  readonly problem: EgressProblem;
  /** The fix is a whole sentence. */
  readonly fix: string;
}

/** The one whose remedy improves the answers most; null: there is none. */
export function firstAdvice(all: readonly Advice[]): Advice | null {
  const rankOf = ({ problem }: Advice): number => EGRESS_PROBLEMS.indexOf(problem);
  return all.reduce<Advice | null>((first, one) => (first === null || rankOf(one) < rankOf(first) ? one : first), null);
}
