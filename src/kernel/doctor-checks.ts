/** The checks of the doctor, in the order of its report. */
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
] as const;
export type DoctorCheck = (typeof DOCTOR_CHECKS)[number];

interface ProblemRow {
  /** Of the doctor that finds it; null: it shows only in the answers of mail servers. */
  readonly check: DoctorCheck | null;
  readonly result: 'fail' | 'warn';
}
const fails = <C extends DoctorCheck | null>(check: C) => ({ check, result: 'fail' }) as const;
const warns = <C extends DoctorCheck | null>(check: C) => ({ check, result: 'warn' }) as const;

/**
 * What may be wrong with an egress, by how many answers it costs: what keeps all of them away comes first, then what
 * many servers refuse a client for, then what makes them wary. To mend the first improves its answers most.
 */
export const EGRESS_PROBLEMS = {
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
} as const satisfies Readonly<Record<string, ProblemRow>>;
export type EgressProblem = keyof typeof EGRESS_PROBLEMS;

const RANKS: Readonly<Record<string, number>> = Object.fromEntries(
  Object.keys(EGRESS_PROBLEMS).map((problem, rank) => [problem, rank]),
);

/** A problem, and what to do about it. */
export interface Advice {
  readonly problem: EgressProblem;
  /** A sentence. */
  readonly fix: string;
}

/** The one whose remedy improves the answers most; null: there is none. */
export function firstAdvice(all: readonly Advice[]): Advice | null {
  const rankOf = ({ problem }: Advice): number => RANKS[problem] ?? Number.POSITIVE_INFINITY;
  return all.reduce<Advice | null>((first, one) => (first === null || rankOf(one) < rankOf(first) ? one : first), null);
}
