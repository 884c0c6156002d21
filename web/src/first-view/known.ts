import type { QueryKey } from '@tanstack/react-query';

/** The element with the data that a first view was rendered with, as JSON: the page need not request it again. */
export const KNOWN_ID = 'known';

export type Known = readonly (readonly [key: QueryKey, data: unknown])[];
