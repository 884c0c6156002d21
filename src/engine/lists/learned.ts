/**
 * Mail hosts that were learned to be disposable (learn.ts), and those that were not although they serve listed domains:
 * one JSON file, which is replaced whole.
 */

/** Where a mail host or address that serves listed domains stands. */
export interface HostEvidence {
  /** Listed domains that it serves, by registrable domain; counting ends at 1,000. */
  readonly listed: number;
  /** Some of them. */
  readonly sample: readonly string[];
}

/** Why a host that serves listed domains is not disposable. */
export const REFUSALS = {
  serves_good: 'it also serves known good domains',
  kin_serves_good: 'another host of its domain serves known good domains',
  owner_uses_it: 'its own domain, which is on no list, receives mail there',
  named_by_owner: 'the owner of the address gives it a name of a domain that is on no list',
  not_confirmed: 'its owner could not be looked up',
} as const;
export type Refusal = keyof typeof REFUSALS;

export interface RefusedHost extends HostEvidence {
  readonly why: Refusal;
  /** Some of the known good domains that it serves. */
  readonly good: readonly string[];
}

export interface LearnedHosts {
  /** ISO 8601. */
  readonly made: string;
  readonly hosts: ReadonlyMap<string, HostEvidence>;
  readonly addresses: ReadonlyMap<string, HostEvidence>;
  /** Hosts and addresses. */
  readonly refused: ReadonlyMap<string, RefusedHost>;
}

/** The file is unusable. */
class LearnedFileError extends Error {}

export const formatLearned = ({ made, hosts, addresses, refused }: LearnedHosts): string =>
  `${JSON.stringify({ made, hosts: [...hosts], addresses: [...addresses], refused: [...refused] }, null, 1)}\n`;

/** Throws LearnedFileError. */
export function parseLearned(text: string): LearnedHosts {
  try {
    const { made, hosts, addresses, refused } = JSON.parse(text);
    if (typeof made !== 'string' || !made.endsWith('Z')) throw new LearnedFileError('it has no time');
    return { made, hosts: new Map(hosts), addresses: new Map(addresses), refused: new Map(refused) };
  } catch (error) {
    if (error instanceof LearnedFileError) throw error;
    throw new LearnedFileError('it is not a list of learned mail hosts', { cause: error });
  }
}

export const NOTHING_LEARNED: LearnedHosts = {
  made: '',
  hosts: new Map(),
  addresses: new Map(),
  refused: new Map(),
};
