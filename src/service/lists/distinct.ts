/**
 * Numbers the distinct addresses, or mailboxes, of a list, from 1, in the order in which they first occur. Of each it
 * keeps 96 bits of SHA-256, because a million texts would take ten times the memory. A random salt of this table is
 * hashed with them: without it, a sender could choose addresses that all belong in the same slots.
 */

import { hash } from 'node:crypto';
import { documentedMailbox } from '../../engine/address/mailbox.ts';
import { parseDomain } from '../../engine/address/parse.ts';
import { trimBlanks } from '../../kernel/blanks.ts';
import type { Dedupe } from '../../kernel/facts/lists.ts';
import { randomToken } from '../../kernel/ids.ts';
import { ANY_DOMAIN } from '../verify.ts';

const KEY_WORDS = 3;
const FIRST_SLOTS = 4096;
/** Has 128 bits; with an address of usual length, it is still one block of SHA-256. */
const SALT_LENGTH = 22;
/** Addresses whose bits are in one array, a power of two: arrays are added, never copied. */
const PAGE = 1 << 16;

/**
 * The same for two spellings of an address: white space around it does not count, and its domain is compared as the
 * engine's parser folds it, to lower-case ASCII. With `mailbox`, the same for all addresses of one mailbox at a domain
 * for which its provider has documented them. A domain whose provider only its mail hosts tell is compared by address:
 * the rows are numbered, and priced, before DNS is asked.
 */
function duplicateKey(address: string, dedupe: Dedupe): string {
  const text = trimBlanks(address);
  const from = text.lastIndexOf('@') + 1;
  if (from === 0) return text;
  const sent = text.slice(from);
  const domain = isAscii(sent) ? sent.toLowerCase() : foldedDomain(sent);
  const mailbox = dedupe === 'mailbox' ? documentedMailbox(text, domain) : null;
  return mailbox === null ? text.slice(0, from) + domain : MAILBOX_MARK + mailbox;
}
/** No address contains it. */
const MAILBOX_MARK = '\n';

const isAscii = (text: string): boolean => /^\p{ASCII}*$/u.test(text);
function foldedDomain(domain: string): string {
  const parsed = parseDomain(domain, 0, ANY_DOMAIN);
  return parsed.ok ? parsed.ascii : domain.toLowerCase();
}

type RowKey = readonly [number, number, number];

export class DistinctAddresses {
  readonly #pages: Uint32Array[] = [];
  /** Numbers, by open addressing; 0: free. At most half of the slots are taken. */
  #slots = new Uint32Array(FIRST_SLOTS);
  #count = 0;
  readonly #salt = randomToken(SALT_LENGTH);
  readonly #dedupe: Dedupe;
  /** Slots that were looked at: about one and a half for each address, whatever the addresses. */
  probes = 0;

  constructor(dedupe: Dedupe) {
    this.#dedupe = dedupe;
  }

  get count(): number {
    return this.#count;
  }

  /** The number of the address, which is new if it equals `count` now and did not before. */
  number(address: string): number {
    const digest = hash('sha256', this.#salt + duplicateKey(address, this.#dedupe), 'binary');
    const key: RowKey = [digestWord(digest, 0), digestWord(digest, 4), digestWord(digest, 8)];
    const slot = this.#slotOf(key);
    const known = this.#slots[slot] ?? 0;
    if (known > 0) return known;
    this.#add(key);
    this.#slots[slot] = this.#count;
    if (this.#count * 2 > this.#slots.length) this.#grow();
    return this.#count;
  }

  /** Where the number of the key is, or belongs. */
  #slotOf(key: RowKey): number {
    const last = this.#slots.length - 1;
    for (let slot = key[0] & last; ; slot = (slot + 1) & last) {
      this.probes += 1;
      const number = this.#slots[slot] ?? 0;
      if (number === 0 || this.#isOf(number, key)) return slot;
    }
  }

  #isOf(number: number, [a, b, c]: RowKey): boolean {
    const page = this.#pages[Math.floor((number - 1) / PAGE)];
    const at = ((number - 1) % PAGE) * KEY_WORDS;
    return page !== undefined && page[at] === a && page[at + 1] === b && page[at + 2] === c;
  }

  #add(key: RowKey): void {
    const at = this.#count % PAGE;
    if (at === 0) this.#pages.push(new Uint32Array(PAGE * KEY_WORDS));
    this.#pages.at(-1)?.set(key, at * KEY_WORDS);
    this.#count += 1;
  }

  #grow(): void {
    const slots = new Uint32Array(this.#slots.length * 2);
    const last = slots.length - 1;
    for (let number = 1; number <= this.#count; number++) {
      const first = this.#pages[Math.floor((number - 1) / PAGE)]?.[((number - 1) % PAGE) * KEY_WORDS] ?? 0;
      let slot = first & last;
      while (slots[slot] !== 0) slot = (slot + 1) & last;
      slots[slot] = number;
    }
    this.#slots = slots;
  }
}

/** Reads four characters of a byte each. */
const digestWord = (digest: string, at: number): number =>
  ((digest.charCodeAt(at) << 24) |
    (digest.charCodeAt(at + 1) << 16) |
    (digest.charCodeAt(at + 2) << 8) |
    digest.charCodeAt(at + 3)) >>>
  0;
