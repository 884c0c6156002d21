/** The lists of disposable domains that `disposable update` downloads. What each one counts for: rule.ts. */
import { asciiName } from './names.ts';
import type { Letter } from './rule.ts';

export const UPDATE_SOURCES = ['disposable', 'fakefilter', 'mailchecker', 'tompec', 'ivolo'] as const;
export type UpdateSource = (typeof UPDATE_SOURCES)[number];

/** A list is not what it should be; the message begins with where it is from. */
export class NotAListError extends Error {}

interface SourceRow {
  readonly letter: Exclude<Letter, 'f'>;
  /** In the file. */
  readonly title: string;
  readonly url: string;
  /** One name per line with `#` comments, or a JSON array of names. */
  readonly format: 'lines' | 'json';
  /** SPDX. */
  readonly license: string;
  /** What it counts for, for operators. */
  readonly weight: string;
}

const GITHUB = 'https://raw.githubusercontent.com';

export const SOURCES = {
  disposable: {
    letter: 'a',
    title: 'disposable_email_blocklist.conf',
    url: `${GITHUB}/disposable-email-domains/disposable-email-domains/main/disposable_email_blocklist.conf`,
    format: 'lines',
    license: 'CC0-1.0',
    weight: 'Curated: decides alone.',
  },
  fakefilter: {
    letter: 'b',
    title: 'fakefilter data.txt',
    url: `${GITHUB}/7c/fakefilter/main/txt/data.txt`,
    format: 'lines',
    license: 'BSD-3-Clause',
    weight: 'Crawls the services: decides alone.',
  },
  mailchecker: {
    letter: 'c',
    title: 'mailchecker list.txt',
    url: `${GITHUB}/FGRibreau/mailchecker/master/list.txt`,
    format: 'lines',
    license: 'MIT',
    weight: 'Decides where one of the next two confirms it.',
  },
  tompec: {
    letter: 'd',
    title: 'tompec index.json',
    url: `${GITHUB}/tompec/disposable-email-domains/main/index.json`,
    format: 'json',
    license: 'MIT',
    weight: 'Confirms; alone a suspicion.',
  },
  ivolo: {
    letter: 'e',
    title: 'ivolo index.json',
    url: `${GITHUB}/ivolo/disposable-email-domains/master/index.json`,
    format: 'json',
    license: 'MIT',
    weight: 'Confirms; alone a suspicion.',
  },
} as const satisfies Record<UpdateSource, SourceRow>;

const MAX_DOMAINS = 500_000;
/** What lists of 100,000 names may contain of malformed ones; a page of something else contains more. */
const MALFORMED_SHARE = 0.01;

/** The names of a downloaded list, in lower-case ASCII. Throws NotAListError. */
export function readNames(text: string, url: string, format: SourceRow['format']): Set<string> {
  return format === 'lines' ? readLines(text, url) : readJson(text, url);
}

/** One domain name per line; empty lines and `#` comments are skipped. */
function readLines(text: string, url: string): Set<string> {
  const names = new Set<string>();
  let number = 0;
  for (const raw of text.split('\n')) {
    number++;
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const name = asciiName(line);
    if (name === null) throw new NotAListError(`${url}: line ${number} is not a domain name`);
    add(names, name, url);
  }
  return names;
}

function readJson(text: string, url: string): Set<string> {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    throw new NotAListError(`${url} is not JSON`, { cause });
  }
  if (!Array.isArray(list)) throw new NotAListError(`${url} is not a JSON array`);
  const names = new Set<string>();
  let malformed = 0;
  for (const item of list) {
    const name = typeof item === 'string' ? asciiName(item.trim()) : null;
    if (name !== null) add(names, name, url);
    else if (++malformed > list.length * MALFORMED_SHARE)
      throw new NotAListError(`${url}: ${JSON.stringify(item).slice(0, 80)} is not a domain name`);
  }
  return names;
}

function add(names: Set<string>, name: string, url: string): void {
  names.add(name);
  if (names.size > MAX_DOMAINS) throw new NotAListError(`${url}: over ${MAX_DOMAINS} domains`);
}
