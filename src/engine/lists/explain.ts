import { type DisposableFile, entryOf } from './entries.ts';
import type { Facts } from './facts.ts';
import { type HostEvidence, REFUSALS, type RefusedHost } from './learned.ts';
import { asciiName, registrableOf } from './names.ts';
import { lettersOf, type SetAside } from './rule.ts';

/** The sources' entries for one name between a domain and its registrable domain. */
interface NamedEntry {
  readonly domain: string;
  /** The sources that list it, such as `fakefilter 0.1.1476`. */
  readonly sources: readonly string[];
  /** Why it is in no tier although a source lists it; null if it is in one. */
  readonly setAside: SetAside | null;
}

export interface HostExplanation {
  /** A mail host or its address. */
  readonly host: string;
  readonly disposable: boolean;
  /** Many unrelated customers share it: it is never disposable. */
  readonly shared: boolean;
  /** The listed domains by which it was learned. */
  readonly learned: HostEvidence | null;
  /** Why it was not, although it serves listed domains. */
  readonly refused: RefusedHost | null;
}

export interface ListExplanation {
  /** Lower-case ASCII; as given if it is not a domain name. */
  readonly domain: string;
  /** Null for a public suffix and for an invalid name. */
  readonly registrable: string | null;
  readonly verdict: 'disposable' | 'suspected' | 'allowed' | 'none';
  /** The deciding entry: the domain or a parent of it. */
  readonly matched: string | null;
  /** Every name from the domain up to its registrable domain that a source lists. */
  readonly named: readonly NamedEntry[];
  /** The allowlist's entry and its reason. */
  readonly allow: { readonly domain: string; readonly reason: string } | null;
  readonly relay: { readonly domain: string; readonly operator: string; readonly source: string } | null;
  /** Operator, if the domain itself is a free-subdomain zone. */
  readonly zone: string | null;
  readonly free: boolean;
  readonly known: boolean;
  /** The probable target, for a listed typo. */
  readonly mistyped: string | null;
  /** Date of the disposable list. */
  readonly version: string;
}

/** The lookups of lists.ts that are explained. */
interface Answers {
  disposable(domain: string): Pick<ListExplanation, 'verdict' | 'matched'>;
  isFree(domain: string): boolean;
  isKnownDomain(domain: string): boolean;
}

/** `domain`, then its parents up to the registrable domain, with at least two labels each. */
function chain(domain: string, registrable: string | null): string[] {
  const names = [domain];
  for (let rest = domain; registrable !== null && rest.length > registrable.length; ) {
    rest = rest.slice(rest.indexOf('.') + 1);
    names.push(rest);
  }
  return names;
}

/** Explains why a domain is or is not on the lists; accepts any case and Unicode. */
export function explain(asked: string, lists: Answers, facts: Facts, file: DisposableFile): ListExplanation {
  const domain = asciiName(asked.trim().replace(/\.$/, '')) ?? asked;
  const registrable = registrableOf(domain);
  const names = chain(domain, registrable);
  const inWords = (letter: string) => file.sources.get(letter) ?? letter;
  const named = names.flatMap((name): NamedEntry[] => {
    const entry = entryOf(file, name);
    if (entry === null) return [];
    return [{ domain: name, sources: [...lettersOf(entry.bits)].map(inWords), setAside: entry.reason }];
  });
  const allowed = names.find((name) => facts.allow.has(name));
  const relay = names.map((name) => facts.relays.get(name)).find((row) => row !== undefined);
  return {
    domain,
    registrable,
    ...lists.disposable(domain),
    named,
    allow: allowed === undefined ? null : { domain: allowed, reason: facts.allow.get(allowed) ?? '' },
    relay: relay ?? null,
    zone: facts.zones.get(domain) ?? null,
    free: lists.isFree(domain),
    known: lists.isKnownDomain(domain),
    mistyped: facts.mistyped.get(domain) ?? null,
    version: file.version,
  };
}

const ASIDE: Readonly<Record<SetAside, string>> = {
  suffix: 'it is a public suffix',
  zone: 'it is a free-subdomain zone',
  tld: 'its top-level domain does not exist',
  allow: 'the allowlist clears it',
  relay: 'it is a privacy relay',
};
const VERDICTS: Readonly<Record<ListExplanation['verdict'], string>> = {
  disposable: 'disposable',
  suspected: 'suspected: not enough sources name it for a verdict',
  allowed: 'not disposable: cleared',
  none: 'not on the list',
};

/** The explanation as text, one line per fact. */
export function explanationLines(e: ListExplanation): string[] {
  const via = e.matched === null || e.matched === e.domain ? '' : ` (by ${e.matched})`;
  const lines = [`${e.domain}: ${VERDICTS[e.verdict]}${via}`, `list version: ${e.version}`];
  for (const { domain, sources, setAside } of e.named) {
    const aside = setAside === null ? '' : `; does not count, since ${ASIDE[setAside]}`;
    lines.push(`named: ${domain} by ${sources.join(', ')}${aside}`);
  }
  if (e.allow !== null) lines.push(`allowlist: ${e.allow.domain}: ${e.allow.reason}`);
  if (e.relay !== null) lines.push(`relay: ${e.relay.domain}, ${e.relay.operator} (${e.relay.source})`);
  if (e.zone !== null) lines.push(`zone: ${e.zone}`);
  if (e.registrable === null) lines.push('not a registrable domain: a public suffix, or no domain name at all');
  if (e.free) lines.push('free provider');
  if (e.mistyped !== null) lines.push(`probably mistyped for ${e.mistyped}`);
  return lines;
}

/** What is known of a mail host, one line per fact. */
export function hostLines({ host, disposable, shared, learned, refused }: HostExplanation): string[] {
  const lines = [
    `mail host: ${host}: ${disposable ? 'disposable' : shared ? 'shared by many customers' : 'not disposable'}`,
  ];
  if (learned !== null) lines.push(`learned: ${servesLine(learned)}, and no known good one`);
  if (refused !== null) {
    const good = refused.good.length > 0 ? ` (${refused.good.join(', ')})` : '';
    lines.push(`not learned: ${servesLine(refused)}, but ${REFUSALS[refused.why]}${good}`);
  }
  return lines;
}

const servesLine = ({ listed, sample }: HostEvidence): string =>
  `it serves ${listed} listed ${listed === 1 ? 'domain' : 'domains'}, such as ${sample.join(', ')}`;
