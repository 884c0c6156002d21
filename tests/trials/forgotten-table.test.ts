import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Copy, copySources } from './copy.ts';

let copy: Copy;
beforeAll(() => {
  copy = copySources();
});
afterAll(() => copy.remove());

/** Numbered behind the migrations that are there. */
const migration = (engine: 'sqlite' | 'postgres'): string => {
  const count = readdirSync(join(import.meta.dirname, '../../migrations', engine)).length;
  return `migrations/${engine}/${String(count + 1).padStart(4, '0')}_reminders.sql`;
};

describe('a new table with an account_id that is forgotten among the owned ones', () => {
  it('fails a test that names it', () => {
    const table = 'CREATE TABLE reminders (account_id TEXT NOT NULL REFERENCES accounts (id), text TEXT NOT NULL);\n';
    copy.write(migration('sqlite'), `-- compatible-from: 16\n${table}`);
    copy.write(migration('postgres'), `-- compatible-from: 16\n${table}`);
    const { ok, output } = copy.test('tests/store/owned-tables.test.ts', '-t', 'are all in OWNED_TABLES');
    expect(ok).toBe(false);
    expect(output).toMatch(/Tests\s+1 failed/);
    expect(output).toContain('"reminders"');
  });

  it('is a compile error once the code knows the table', () => {
    copy.edit(
      'src/store/tables.ts',
      '  accounts: AccountsTable;\n',
      '  accounts: AccountsTable;\n  reminders: { account_id: string; text: string };\n',
    );
    expect(copy.compile()).toEqual(['src/store/contents.ts', 'src/store/owned-tables.ts', 'src/store/privacy.ts']);
  });

  it('and passes when it is told how its rows end', () => {
    copy.edit(
      'src/store/owned-tables.ts',
      'export const OWNED_TABLES = {\n',
      'export const OWNED_TABLES = {\n  reminders: { erasure: NO_ADDRESS, purge: BY_THE_ACCOUNT },\n',
    );
    copy.edit(
      'src/store/contents.ts',
      'const OF_ACCOUNTS = {\n',
      "const OF_ACCOUNTS = {\n  reminders: of<'reminders'>()({ text: ['text'], fact: ['account_id'] }),\n",
    );
    expect(copy.compile()).toEqual([]);
    const { ok, output } = copy.test('tests/store/owned-tables.test.ts');
    expect(ok, output).toBe(true);
  });
});
