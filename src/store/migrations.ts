/** The numbered, forward-only schema files, read from the package's migrations/ folder. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

/** The store was migrated by a newer version of the program. */
export class StoreVersionError extends Error {
  readonly found: number;
  readonly known: number;
  constructor(found: number, known: number) {
    super(
      `The store has schema version ${found}, but this version of Mailvet knows only ${known}. ` +
        'Start the newer Mailvet that brought it there, or restore a backup made before.',
    );
    this.name = 'StoreVersionError';
    this.found = found;
    this.known = known;
  }
}

/** The folder in the package: two levels up from src/store, one from the bundled dist. */
export function migrationsFolder(): string {
  const places = ['../../migrations', '../migrations'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = places.find((path) => existsSync(join(path, 'sqlite')));
  if (found === undefined) throw new Error(`The migrations folder is missing; looked in ${places.join(' and ')}.`);
  return found;
}

/** `NNNN_name.sql` in order. Throws when a number is missing or used twice. */
export function readMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).filter((file) => /^\d{4}_[a-z0-9_]+\.sql$/.test(file));
  return files.sort().map((file, i) => {
    const version = Number(file.slice(0, 4));
    if (version !== i + 1) throw new Error(`Migration ${i + 1} is missing or there twice in ${folder}.`);
    return { version, name: file.slice(5, -4), sql: readFileSync(join(folder, file), 'utf8') };
  });
}

/** The migrations to apply to a store at `version`. Throws StoreVersionError when the store is newer. */
export function pending(migrations: readonly Migration[], version: number): readonly Migration[] {
  if (version > migrations.length) throw new StoreVersionError(version, migrations.length);
  return migrations.slice(version);
}
