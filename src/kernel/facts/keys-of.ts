/** The keys of a table, in its order. An object may have more keys than its type says; a table has none. */
export const keysOf = <K extends string>(table: Readonly<Record<K, unknown>>): readonly K[] =>
  Object.keys(table) as K[];
