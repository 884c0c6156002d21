import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrationsFolder, readMigrations } from '../../src/store/migrations.ts';

/**
 * A folder with the package's migrations and, per engine, one more: those of the next version of the program.
 * `compatibleFrom`: by default that version; null: not declared.
 */
export function withOneMore(
  sql: string,
  declared: { compatibleFrom?: number | null; concurrently?: boolean } = {},
): { dir: string; version: number } {
  const dir = mkdtempSync(join(tmpdir(), 'mailvet-migrations-'));
  cpSync(migrationsFolder(), dir, { recursive: true });
  const version = readMigrations(join(dir, 'sqlite')).length + 1;
  const { compatibleFrom = version, concurrently = false } = declared;
  const head = [
    ...(compatibleFrom === null ? [] : [`-- compatible-from: ${compatibleFrom}`]),
    ...(concurrently ? ['-- concurrently'] : []),
  ];
  for (const engine of ['sqlite', 'postgres']) {
    const text = [...head, sql].join('\n');
    writeFileSync(join(dir, engine, `${String(version).padStart(4, '0')}_next.sql`), text);
  }
  return { dir, version };
}
