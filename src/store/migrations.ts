/** The numbered, forward-only schema files, read from the package's migrations/ folder. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PendingMigration, SchemaCheck } from './store.ts';

export interface Migration extends PendingMigration {
  readonly sql: string;
  /** PostgreSQL: the file builds indexes, one after the other, without a transaction. */
  readonly concurrently: boolean;
}

/** How far a store was migrated. */
export interface SchemaState {
  /** 0 means never. */
  readonly version: number;
  /** Programs that know this version can use the store. */
  readonly compatibleFrom: number;
}

/** A row as `SchemaState` of a store that was migrated. */
export const SCHEMA =
  'SELECT max(version) AS version, max(coalesce(compatible_from, version)) AS "compatibleFrom" FROM migrations';

/** Of these and earlier ones nothing is known: each needs the program that brought it. */
const LAST_UNDECLARED = 13;

/**
 * The version that a store has while it takes the rows of another one (moving.ts): no program knows it, so none uses
 * the store.
 */
export const IMPORTING = 1_000_000_000;

/** A newer version of the program has migrated the store, and this one can no longer use it. */
export class StoreVersionError extends Error {
  readonly found: number;
  readonly compatibleFrom: number;
  readonly known: number;
  constructor({ version, compatibleFrom }: SchemaState, known: number) {
    super(
      version === IMPORTING
        ? 'An import into this store has not ended: run mailvet import-store with the same file again.'
        : `The store has schema version ${version} and needs a Mailvet that knows version ${compatibleFrom}, but this one ` +
            `knows only ${known}. Start the newer Mailvet that brought it there, or restore a backup made before.`,
    );
    this.name = 'StoreVersionError';
    this.found = version;
    this.compatibleFrom = compatibleFrom;
    this.known = known;
  }
}

/** Returns the folder in the package: two levels up from src/store, one from the bundled dist. */
export function migrationsFolder(): string {
  const places = ['../../migrations', '../migrations'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = places.find((path) => existsSync(join(path, 'sqlite')));
  if (found === undefined) throw new Error(`The migrations folder is missing; looked in ${places.join(' and ')}.`);
  return found;
}

/**
 * `NNNN_name.sql` in order. Throws when a number is missing or used twice, or when a file does not declare with which
 * programs it is compatible: `-- compatible-from: N`.
 */
export function readMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).filter((file) => /^\d{4}_[a-z0-9_]+\.sql$/.test(file));
  return files.sort().map((file, i) => {
    const version = Number(file.slice(0, 4));
    if (version !== i + 1) throw new Error(`Migration ${i + 1} is missing or there twice in ${folder}.`);
    const sql = readFileSync(join(folder, file), 'utf8');
    const declared = /^-- compatible-from: (\d+)$/m.exec(sql)?.[1];
    if (declared === undefined && version > LAST_UNDECLARED)
      throw new Error(
        `${file} has no line "-- compatible-from: N": the oldest schema version whose programs go on working.`,
      );
    const compatibleFrom = Number(declared ?? version);
    if (compatibleFrom > version) throw new Error(`${file} is compatible from ${compatibleFrom}, which is later.`);
    return { version, name: file.slice(5, -4), compatibleFrom, sql, concurrently: /^-- concurrently$/m.test(sql) };
  });
}

/**
 * The migrations to apply to a store. None to one that is newer but compatible; throws StoreVersionError where it is
 * not.
 */
export function pending(migrations: readonly Migration[], state: SchemaState): readonly Migration[] {
  assertCompatible(state, migrations.length);
  return migrations.slice(state.version);
}

/** Throws StoreVersionError. `known`: the schema version of the program. */
export function assertCompatible(state: SchemaState, known: number): void {
  if (state.compatibleFrom > known) throw new StoreVersionError(state, known);
}

/** What `migrate` would do. Throws StoreVersionError. */
export function checkSchema(migrations: readonly Migration[], state: SchemaState): SchemaCheck {
  const missing = pending(migrations, state);
  return {
    ...state,
    known: migrations.length,
    pending: missing.map(({ version, name, compatibleFrom }) => ({ version, name, compatibleFrom })),
    // No node runs on a store that was never migrated.
    rolling: state.version === 0 || missing.every(({ compatibleFrom }) => compatibleFrom <= state.version),
  };
}
