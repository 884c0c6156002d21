/**
 * Which blocks of the log may have an address. The index on addresses is by blocks of 4,096 rows (migration 0016), so a
 * thousand addresses would have to be looked up in each of thousands of blocks. Of blocks that are full, a filter in
 * memory says which addresses they do not have.
 */
import { type Kysely, sql } from 'kysely';
import {
  numberColumn,
  type PlacedAddress,
  rowMaker,
  textColumn,
  WANTED_ADDRESSES,
  type WantedAddress,
} from '../columns.ts';
import type { NewestOfAddress } from '../driver.ts';
import { INDEXED_ADDRESS } from '../log/search.ts';
import type { Tables } from '../tables.ts';
import { hashOf, mayHave } from './address-filter.ts';
import { lowerAscii, tableOf } from './statements.ts';

/** Of the newest blocks, filters are kept: 16 MB, for 8 million rows. */
const MOST_FILTERS = 2_048;
/** To make a filter takes as long as to look so many addresses up in its block. */
const LOOK_UPS_PER_FILTER = 32;
interface WantedInBlock extends PlacedAddress {
  readonly block: number;
}
const WANTED_IN_BLOCKS = rowMaker<WantedInBlock>({
  wanted: numberColumn(({ wanted }) => wanted),
  address: textColumn(({ email }) => email),
  until: numberColumn(({ until }) => until),
  block: numberColumn(({ block }) => block),
});

export class AddressBlocks {
  readonly #filters = new Map<number, Uint8Array>();

  /** See `StorageDriver.newestOfAddresses`. */
  async newest(db: Kysely<Tables>, account: string, addresses: readonly WantedAddress[]): Promise<NewestOfAddress[]> {
    const wanted = addresses.map((one, i): PlacedAddress => ({ ...one, wanted: i }));
    const blocks = await this.#blocks(db);
    await this.#learn(db, blocks, Math.floor(wanted.length / LOOK_UPS_PER_FILTER));
    const unknown = blocks.filter((block) => !this.#filters.has(block));
    const likely: WantedInBlock[] = [];
    const hashes = wanted.map(({ email }) => hashOf(account, lowerAscii(email)));
    for (const block of blocks) {
      const filter = this.#filters.get(block);
      if (filter === undefined) continue;
      for (const [i, one] of wanted.entries()) {
        const hash = hashes[i];
        if (hash !== undefined && mayHave(filter, hash)) likely.push({ ...one, block });
      }
    }
    const matches = sql`account_id = ${account} AND ${INDEXED_ADDRESS} = substr(lower(address), 1, 320)
      AND created_at <= until GROUP BY wanted`;
    const { rows } = await sql<NewestOfAddress>`SELECT wanted, max(seq) AS seq FROM (
      SELECT wanted, max(seq) AS seq FROM ${tableOf(WANTED_IN_BLOCKS, likely)} CROSS JOIN verifications
        ON seq >> 12 = c.block WHERE ${matches}
      UNION ALL SELECT wanted, max(seq) AS seq FROM json_each(${JSON.stringify(unknown)}) AS b
        CROSS JOIN ${tableOf(WANTED_ADDRESSES, wanted)} CROSS JOIN verifications ON seq >> 12 = b.value WHERE ${matches}
    ) GROUP BY wanted`.execute(db);
    return rows;
  }

  /** The newest come first. */
  async #blocks(db: Kysely<Tables>): Promise<number[]> {
    const { rows } = await sql<{ first: number | null; last: number }>`
      SELECT (SELECT min(seq) FROM verifications) >> 12 AS first, (SELECT max(seq) FROM verifications) >> 12 AS last`.execute(
      db,
    );
    const [{ first = null, last = 0 } = {}] = rows;
    const blocks = first === null ? [] : Array.from({ length: last - first + 1 }, (_, i) => last - i);
    // What is gone has been deleted for its age.
    for (const block of this.#filters.keys()) if (first === null || block < first) this.#filters.delete(block);
    return blocks;
  }

  /** Makes filters of full blocks: what is recorded later goes to a newer one. */
  async #learn(db: Kysely<Tables>, [newest, ...full]: readonly number[], most: number): Promise<void> {
    const missing = full.slice(0, MOST_FILTERS).filter((block) => !this.#filters.has(block));
    const some = missing.slice(0, most);
    if (newest === undefined || some.length === 0) return;
    const { rows } = await sql<{ block: number; filter: Uint8Array }>`
      SELECT value AS block, (SELECT mailvet_address_filter(account_id, ${INDEXED_ADDRESS})
        FROM verifications WHERE seq >> 12 = value) AS filter FROM json_each(${JSON.stringify(some)})`.execute(db);
    for (const { block, filter } of rows) this.#filters.set(block, filter);
    for (const block of this.#filters.keys()) if (block <= newest - MOST_FILTERS) this.#filters.delete(block);
  }
}
