/** Builds the files of data/ from the sources. Pure: the same input gives the same bytes. */
import { createHash } from 'node:crypto';
import {
  asciiName,
  type DisposableEntry,
  formatDisposable,
  LETTER_BIT,
  type Letter,
  parseDisposable,
  SOURCE_LETTERS,
  sourceLetters,
  type Tier,
} from '../../src/engine/data/disposable-file.ts';
import { readFileLines, readRelays, readTable } from '../../src/engine/data/domain-data.ts';
import { setAside } from '../../src/engine/data/update.ts';
import { FREQUENT_PASSWORDS, passwordCore } from '../../src/service/sign-in/validate.ts';
import type { ListPackage } from './packages.ts';

export interface Sources {
  readonly version: string;
  readonly packages: readonly ListPackage[];
}

/** Hand-maintained files in data/; all of them are in the manifest. */
export const KEPT = [
  'allow.txt',
  'disposable-mx.json',
  'known.txt',
  'mistyped.txt',
  'mx-providers.json',
  'relays.json',
  'roles.txt',
  'sentinels.txt',
  'shared-mail-hosts.txt',
  'sources.json',
  'sources/role-localparts.txt',
  'suggest.txt',
  'zones.txt',
];

/** Letters of packages that list something else. */
const NOT_DOMAINS = ['p', 't'];

interface Names {
  readonly good: Set<string>;
  /** Not a domain name, or a single label. */
  readonly malformed: number;
}

function clean(names: readonly string[]): Names {
  const good = new Set<string>();
  const bad = new Set<string>();
  for (const name of names) {
    const ascii = asciiName(name);
    if (ascii === null) bad.add(name);
    else good.add(ascii);
  }
  return { good, malformed: bad.size };
}

const text = (head: string, lines: readonly string[]): string => `${[`# ${head}`, ...lines].join('\n')}\n`;

/**
 * Built files: name in data/ → content. `named` contains the names that each package lists, by the package's letter.
 */
export function build(dir: string, sources: Sources, named: ReadonlyMap<string, readonly string[]>) {
  const tlds = [...new Set(named.get('t')!.map((tld) => new URL(`http://x.${tld}/`).hostname.slice(2)))].sort();
  const facts = {
    allow: readTable(dir, 'allow.txt'),
    relays: readRelays(dir),
    zones: readTable(dir, 'zones.txt'),
    tlds: new Set(tlds),
  };
  const lists = new Map(
    [...named].filter(([letter]) => !NOT_DOMAINS.includes(letter)).map(([letter, names]) => [letter, clean(names)]),
  );
  const agreed = [...lists.get('g')!.good].filter((name) => lists.get('h')!.good.has(name)).sort();

  const bits = new Map<string, number>();
  for (const letter of 'abcde') {
    for (const name of lists.get(letter)!.good) bits.set(name, (bits.get(name) ?? 0) | LETTER_BIT[letter as Letter]);
  }
  for (const name of agreed) if (bits.has(name)) bits.set(name, bits.get(name)! | LETTER_BIT.f);
  const entries = new Map<string, DisposableEntry>(
    [...bits].map(([name, b]) => [name, { bits: b, reason: setAside(name, facts) }]),
  );

  const labels = new Map<string, string>([
    ...[...'abcde'].map((letter): [string, string] => [letter, label(sources, letter)]),
    ['f', `no accusation: both ${label(sources, 'g')} and ${label(sources, 'h')} call it a free provider`],
  ]);
  const disposable = formatDisposable(sources.version, labels, entries);
  const file = parseDisposable(disposable);
  const mistyped = readTable(dir, 'mistyped.txt');
  const free = agreed.filter((name) => {
    const aside = setAside(name, facts);
    const listed = file.verdict.has(name) || file.suspicion.has(name);
    // A real provider listed as disposable by mistake (allow.txt) remains one; a public suffix or a zone is none.
    return !listed && !mistyped.has(name) && (aside === null || aside === 'allow');
  });
  const roles = splitRoles(dir);
  const passwords = [...new Set(named.get('p')!.slice(0, FREQUENT_PASSWORDS).map(passwordCore))].sort();
  check(dir, file.verdict, entries, mistyped);

  const built = new Map([
    ['disposable.txt', disposable],
    [
      'free.txt',
      text('Free providers: two lists agree on them, and no disposable list names them. See SOURCES.md.', free),
    ],
    [
      'frequent-passwords.txt',
      text(`What the most frequent passwords consist of, from ${label(sources, 'p')}. See SOURCES.md.`, passwords),
    ],
    ['roles.json', `${JSON.stringify(roles, null, 1)}\n`],
    ['tlds.txt', text(`IANA's top-level domains as A-labels, from ${label(sources, 't')}. See SOURCES.md.`, tlds)],
  ]);
  const counts = {
    disposable: file.verdict.size,
    suspected: file.suspicion.size,
    setAside: reasonCounts(entries),
    free: free.length,
    roles: roles.role.length,
    perhaps: roles.perhaps.length,
    passwords: passwords.length,
    tlds: tlds.length,
    relays: facts.relays.size,
    allow: facts.allow.size,
    zones: facts.zones.size,
  };
  return { built, counts, perSource: perSource(lists, entries) };
}

const label = (sources: Sources, letter: string): string => {
  const pack = sources.packages.find((p) => p.letter === letter)!;
  return `${pack.name} ${pack.version}`;
};

function splitRoles(dir: string) {
  const role = readFileLines(dir, 'roles.txt').filter((line) => !line.startsWith('['));
  const roles = new Set(role);
  const perhaps = readFileLines(dir, 'sources/role-localparts.txt').filter(
    (name) => !roles.has(name) && !roles.has(name.replace(/[._-]/g, '')),
  );
  return { role: [...roles].sort(), perhaps: perhaps.sort() };
}

function reasonCounts(entries: ReadonlyMap<string, DisposableEntry>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const reason of ['allow', 'relay', 'suffix', 'tld', 'zone']) {
    counts[reason] = [...entries.values()].filter((entry) => entry.reason === reason).length;
  }
  return counts;
}

/** Per source: the number of names, and how many of them are malformed or ignored. */
function perSource(lists: ReadonlyMap<string, Names>, entries: ReadonlyMap<string, DisposableEntry>) {
  return [...lists].map(([letter, { good, malformed }]) => {
    const aside = [...good].filter((name) => (entries.get(name)?.reason ?? null) !== null).length;
    return { letter, names: good.size, malformed, ...(SOURCE_LETTERS.includes(letter) ? { setAside: aside } : {}) };
  });
}

/** Checks the hand-maintained files; throws with all problems. */
function check(
  dir: string,
  verdict: Tier,
  entries: ReadonlyMap<string, DisposableEntry>,
  mistyped: ReadonlyMap<string, string>,
): void {
  const faults: string[] = [];
  for (const name of [...readFileLines(dir, 'sentinels.txt'), ...readTable(dir, 'suggest.txt').keys()]) {
    if (verdict.has(name))
      faults.push(`${name} is a sentinel, but the sources ${sourceLetters(entries.get(name)!.bits)} name it`);
    if (mistyped.has(name)) faults.push(`${name} cannot be a provider and mistyped`);
  }
  for (const name of readTable(dir, 'allow.txt').keys()) {
    const below = [...entries.keys()].some((entry) => entry === name || entry.endsWith(`.${name}`));
    if (!below) faults.push(`allow.txt: no source names ${name}`);
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

export const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');
