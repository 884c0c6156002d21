import type { SQLInputValue } from 'node:sqlite';

/** Kysely types parameters as unknown. */
export const bindable = (values: readonly unknown[]): SQLInputValue[] =>
  values.map((value) => {
    if (isBindable(value)) return value;
    throw new TypeError(`SQLite stores no value of the type ${typeof value}.`);
  });

const isBindable = (value: unknown): value is SQLInputValue =>
  value === null || /^(string|number|bigint)$/.test(typeof value) || ArrayBuffer.isView(value);
