import { sql } from 'kysely';
import { storable } from '../text.ts';

/** What the index on addresses holds (migrations 0002): the beginning, in lower case as the engine folds it. */
export const ADDRESS = sql<string>`substr(lower(email), 1, 320)`;
/** The same, but nothing that an index answers: for rows that were found in another way. */
export const ADDRESS_READ = sql<string>`(substr(lower(email), 1, 320) || '')`;
const LENGTH = 320;

/** As much of a text as the index knows; both engines count in code points. */
export const indexed = (text: string): string => Array.from(storable(text)).slice(0, LENGTH).join('');
