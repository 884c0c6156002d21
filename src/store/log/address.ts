import { sql } from 'kysely';
import { storable } from '../text.ts';

/** The indexed expression (migration 0002): the start of the address, in the database's lower case. */
export const ADDRESS = sql<string>`substr(lower(email), 1, 320)`;
/** The same value without the index, for rows found in another way. */
export const ADDRESS_READ = sql<string>`(substr(lower(email), 1, 320) || '')`;
const LENGTH = 320;

/** The part of a text that is indexed; both databases count in code points. */
export const indexed = (text: string): string => Array.from(storable(text)).slice(0, LENGTH).join('');
