/** How texts are searched for the address of a person. */
import { type SqlBool, sql } from 'kysely';
import { trimBlanks } from '../kernel/blanks.ts';
import { HASH } from '../kernel/facts/kept-addresses.ts';
import { hmacSha256, randomBytes, sha256Hex } from '../kernel/ids.ts';
import { type AnyTable, CONTENTS, mentioningColumns } from './contents.ts';
import type { StorageDriver } from './driver.ts';
import { lowerCaseText } from './filters.ts';
import type { AddressHasher, Person, Spellings, Store } from './store.ts';

/** What cannot be right before an address that begins in the middle of a text: it would be a part of it. */
const BEFORE_ADDRESS = '(?<![\\p{L}\\p{N}._%+-])';
const AFTER = '(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])';
/** No address is longer, with room for the percent signs of a URL. */
const ADDRESS_LENGTH_MAX = 1_000;
const AT_SIGN = /@|%40/giu;
/** What no local part has in it without quotes. */
const LOCAL_STOP = /[\s"<>()[\]{},;:\\]/;
const DOMAIN_AT_START = /^[\p{L}\p{N}]+(?:[.-]+[\p{L}\p{N}]+)*/u;
/** These may be part of a local part, but more often an address begins behind them: in a URL, in quotes. */
const DOUBTFUL = /^.*['=&?/]/u;

const escapedForRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

export class Mentions {
  /**
   * A text in ASCII that has none of these in it, in lower case, mentions nobody. Null: all texts have to be looked
   * into.
   */
  readonly needles: readonly string[] | null;
  /** The hash replaces the address where a text has to go on saying that there was one. */
  readonly hash: string;
  readonly hasSpellings: boolean;
  readonly #address: string;
  /** Without one, it is no address, and a text that has it in it, such as `smtp` or `0`, says nothing of a person. */
  readonly #hasAtSign: boolean;
  readonly #hashes: readonly string[];
  readonly #spellings: Spellings | null;
  /** The address as texts, JSON and URLs write it. */
  readonly #pattern: RegExp;

  /** `hashes`: what may be kept in place of the address. */
  constructor({
    email,
    spellings,
    hashes = [],
  }: Pick<Person, 'email' | 'spellings'> & { readonly hashes?: readonly string[] }) {
    this.#address = lowerCaseText(email);
    this.#hasAtSign = this.#address.normalize('NFKC').includes('@');
    this.#hashes = hashes;
    this.#spellings = spellings;
    this.hasSpellings = spellings !== null;
    this.hash = `sha256:${sha256Hex(this.#address).slice(0, 16)}`;
    const json = JSON.stringify(this.#address).slice(1, -1);
    const written = [...new Set([this.#address, json, encodeURIComponent(this.#address)])];
    this.#pattern = new RegExp(`${BEFORE_ADDRESS}(?:${written.map(escapedForRegExp).join('|')})${AFTER}`, 'giu');
    const known = [...written, ...hashes].map((text) => text.toLowerCase());
    const needles = [...known, ...(spellings?.domains ?? [])];
    this.needles = needles.every((text) => /^\p{ASCII}*$/u.test(text)) ? needles : null;
  }

  /** Whether the text is an address of the person. */
  is(text: string): boolean {
    if (this.#hashes.includes(text)) return true;
    return lowerCaseText(trimBlanks(text)) === this.#address || this.#isSpelling(trimBlanks(text));
  }

  /** Whether an address of the person is somewhere in the text. */
  in(text: string): boolean {
    if (this.#hashes.some((hash) => text.includes(hash))) return true;
    return this.is(text) ? text !== '' : this.without(text) !== text;
  }

  /** Does the same for JSON. */
  inJson(text: string): boolean {
    return this.#hashes.some((hash) => text.includes(hash)) || this.withoutJson(text) !== text;
  }

  /** Returns the text with the hash in place of each address of the person. */
  without(text: string): string {
    if (this.#address === '') return text;
    if (this.is(text)) return this.hash;
    if (!this.#hasAtSign) return text;
    const left = text.replace(this.#pattern, this.hash);
    return this.#spellings === null ? left : this.#withoutSpellings(left);
  }

  /**
   * The same of JSON, in whose strings alone an address can be: it stays JSON. A reply that was stored for a repeated
   * request need not be any.
   */
  withoutJson(text: string): string {
    if (this.#hasAtSign && this.#spellings === null && this.without(text) === text) return text;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return this.without(text);
    }
    const cleaned = (value: unknown, key: string): unknown => {
      if (typeof value === 'string') return this.#hasAtSign || key === 'email' ? this.without(value) : value;
      if (Array.isArray(value)) return value.map((one) => cleaned(one, key));
      if (typeof value !== 'object' || value === null) return value;
      const nameOf = (key: string) => (this.#hasAtSign ? this.without(key) : key);
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [nameOf(key), cleaned(one, key)]));
    };
    const left = JSON.stringify(cleaned(value, ''));
    // Its blanks stay as they are where nothing else changes.
    return left === JSON.stringify(value) ? text : left;
  }

  #isSpelling(text: string): boolean {
    if (this.#spellings === null) return false;
    const lower = text.toLowerCase();
    const mayBe = !/^\p{ASCII}*$/u.test(lower) || this.#spellings.domains.some((domain) => lower.includes(domain));
    return mayBe && this.#spellings.is(text);
  }

  #withoutSpellings(text: string): string {
    let [left, end] = ['', 0];
    for (const { index, 0: at } of text.matchAll(AT_SIGN)) {
      if (index < end) continue;
      const domain = DOMAIN_AT_START.exec(text.slice(index + at.length, index + ADDRESS_LENGTH_MAX))?.[0] ?? '';
      if (domain === '') continue;
      const loose = localBefore(text, index, Math.max(end, index - ADDRESS_LENGTH_MAX));
      const isSpelled = (local: string) => local !== '' && this.#isSpelling(`${withoutEscapes(local)}@${domain}`);
      const local = [loose, loose.replace(DOUBTFUL, '')].find(isSpelled);
      if (local === undefined) continue;
      left += text.slice(end, index - local.length) + this.hash;
      end = index + at.length + domain.length;
    }
    return left + text.slice(end);
  }
}

/** What is right before this position and may be a local part, from `first` on. */
function localBefore(text: string, position: number, first: number): string {
  let start = position;
  while (start > first && !LOCAL_STOP.test(text.charAt(start - 1))) start -= 1;
  return text.slice(start, position);
}

/** Whether one of the columns mentions the person. */
export const isMentioned = (
  mentions: Mentions,
  table: AnyTable,
  row: Readonly<Record<string, unknown>>,
  columns = mentioningColumns(table),
): boolean =>
  columns.some((column) => {
    const text = String(row[column] ?? '');
    const content = CONTENTS[table].get(column);
    if (content === 'json') return mentions.inJson(text);
    return (content === 'address' && mentions.is(text)) || mentions.in(text);
  });

/** Whether one of the columns may mention the person, as SQL can tell: the text itself decides. */
export function mayMention(
  driver: Pick<StorageDriver, 'substringMatch'>,
  { needles, hasSpellings }: Mentions,
  columns: readonly string[],
) {
  if (needles === null) return sql<SqlBool>`true`;
  const may = columns.flatMap((name) => {
    const column = sql.ref(name);
    const matches = needles.map((needle) => driver.substringMatch(sql<string>`lower(${column})`, needle));
    // Spellings of a domain beyond ASCII have none of the needles in them.
    return hasSpellings ? [...matches, sql<SqlBool>`octet_length(${column}) > length(${column})`] : matches;
  });
  return sql<SqlBool>`(${sql.join(may, sql` OR `)})`;
}

/** As a URL has it; what is none of a URL's escapes stays. */
const withoutEscapes = (text: string): string =>
  text.replaceAll(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const SEEN_SECRET = 'addresses';

const hasherWith =
  (key: string): AddressHasher =>
  (email, mailbox) => ({
    email: `${HASH}${hmacSha256(key, lowerCaseText(trimBlanks(email)))}`,
    // Never equal to that of an address, which does not begin with a blank.
    mailbox: mailbox === null ? null : `${HASH}${hmacSha256(key, ` ${mailbox}`)}`,
  });

/** See `Store.addressHasher`. */
export const addressHasher =
  (secret: Store['secret']): Store['addressHasher'] =>
  async () =>
    hasherWith(await secret(SEEN_SECRET, () => randomBytes(32).toString('base64')));

/** Null: the store has never kept hashes. */
export async function knownHasher({ db }: Pick<StorageDriver, 'db'>): Promise<AddressHasher | null> {
  const row = await db.selectFrom('secrets').select('value').where('name', '=', SEEN_SECRET).executeTakeFirst();
  return row === undefined ? null : hasherWith(row.value);
}

/** The mentions include the hashes by which the store may know the person. */
export async function mentionsOf(driver: Pick<StorageDriver, 'db'>, person: Person): Promise<Mentions> {
  const kept = (await knownHasher(driver))?.(person.email, person.spellings === null ? null : person.mailbox);
  return new Mentions({ ...person, hashes: kept === undefined ? [] : [kept.email, kept.mailbox ?? kept.email] });
}
