/**
 * Results of the first rows of mailboxes, for their later rows. They are in a file without a name: a million of them
 * would not fit in memory.
 */
import type { FileHandle } from 'node:fs/promises';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { parseAddress } from '../engine/address/parse.ts';
import { openNameless } from '../files/spool.ts';
import type { Report } from '../index.ts';
import { trimBlanks } from '../kernel/blanks.ts';
import type { NumberedAddress } from './verify-rows.ts';

/** Null: no resolver answered. */
export type VerifyAddress = (address: NumberedAddress) => Promise<Report | null>;

const FIRST_PLACES = 4_096;
/** Reports are much alike: deflated after the first one, each takes a few hundred bytes. */
const FAST = 1;

export class FirstResults {
  #file: Promise<FileHandle> | null = null;
  /** By number: where the result begins, and its bytes; no bytes: there is none. */
  #starts = new Float64Array(FIRST_PLACES);
  #lengths = new Uint32Array(FIRST_PLACES);
  #end = 0;
  #model: Buffer | null = null;
  /** Those that are under way, or not written yet. */
  readonly #open = new Map<number, Promise<Report | null>>();

  /**
   * Asks about the first address of each number, and about a later one where that had no result, or an earlier run
   * asked about it.
   */
  of(verify: VerifyAddress): VerifyAddress {
    return async (address) => {
      const { number, text } = address;
      const open = this.#open.get(number);
      if (open === undefined && !this.#has(number)) return this.#ask(verify, address);
      const known = await (open ?? this.#read(number));
      return known === null ? verify(address) : spelled(known, text);
    };
  }

  /** Others of the number find it under way at once. */
  async #ask(verify: VerifyAddress, address: NumberedAddress): Promise<Report | null> {
    const { number } = address;
    const asked = verify(address);
    // What fails is thrown to whoever asked first.
    this.#open.set(
      number,
      asked.catch(() => null),
    );
    try {
      await this.#keep(number, await asked);
    } finally {
      this.#open.delete(number);
    }
    return asked;
  }

  #has = (number: number): boolean => (this.#lengths[number] ?? 0) > 0;

  async #keep(number: number, report: Report | null): Promise<void> {
    if (report === null) return;
    this.#file ??= openNameless();
    const handle = await this.#file;
    const text = Buffer.from(JSON.stringify(report));
    this.#model ??= text;
    const bytes = deflateRawSync(text, { level: FAST, dictionary: this.#model });
    const start = this.#end;
    this.#end += bytes.length;
    for (let at = 0; at < bytes.length; )
      at += (await handle.write(bytes, at, bytes.length - at, start + at)).bytesWritten;
    this.#grow(number);
    this.#starts[number] = start;
    this.#lengths[number] = bytes.length;
  }

  async #read(number: number): Promise<Report | null> {
    const [start = 0, length = 0] = [this.#starts[number], this.#lengths[number]];
    if (this.#file === null || this.#model === null) return null;
    const handle = await this.#file;
    const { buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, start);
    return JSON.parse(inflateRawSync(buffer, { dictionary: this.#model }).toString());
  }

  #grow(number: number): void {
    let places = this.#lengths.length;
    if (number < places) return;
    while (places <= number) places *= 2;
    const [starts, lengths] = [new Float64Array(places), new Uint32Array(places)];
    starts.set(this.#starts);
    lengths.set(this.#lengths);
    this.#starts = starts;
    this.#lengths = lengths;
  }

  async close(): Promise<void> {
    await (await this.#file)?.close();
  }
}

/** The result of the mailbox, with what only its address as it is spelled here says. */
function spelled(report: Report, email: string): Report {
  const parsed = parseAddress(trimBlanks(email), { allowReserved: true, allowUnknownTld: true });
  if (!parsed.ok) return { ...report, email };
  const { normalized, localPart, domain, tag } = parsed.address;
  return { ...report, email, normalized_email: normalized, local_part: localPart, domain, tag };
}
