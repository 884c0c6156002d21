import type { Command } from 'commander';
import type { SchemaCheck, Store } from '../store/store.ts';
import { command, openConfiguredStore, optionsFrom, printResult, table } from './command.ts';

export const migrateCommand = (): Command =>
  command(
    'migrate',
    'Migrate the store to the current version; fails if a newer version of Mailvet has migrated it and is not compatible.',
  )
    .option('--check', 'change nothing; exit with 1 if migrations are pending')
    .action(async (flags: { json?: boolean; check?: boolean }) => {
      const store = await openConfiguredStore(optionsFrom(flags, 'migrate'), { creates: !flags.check });
      try {
        await (flags.check ? reportSchema(store, flags) : applyMigrations(store, flags));
      } finally {
        await store.close();
      }
    });

async function applyMigrations(store: Store, flags: { json?: boolean }): Promise<void> {
  const { from, to } = await store.migrate();
  const text = from === to ? `The store is at version ${to}.` : `Migrated the store from version ${from} to ${to}.`;
  printResult(flags, { from, to }, text);
}

async function reportSchema(store: Store, flags: { json?: boolean }): Promise<void> {
  const found = await store.checkSchema();
  const { version, compatibleFrom, known, pending, rolling } = found;
  const json = {
    schema_version: version,
    compatible_from: compatibleFrom,
    known_version: known,
    pending: pending.map((one) => ({ version: one.version, name: one.name, compatible_from: one.compatibleFrom })),
    old_nodes_keep_working: rolling,
  };
  printResult(flags, json, schemaText(found));
  if (pending.length > 0) process.exitCode = 1;
}

function schemaText({ version, known, pending, rolling }: SchemaCheck): string {
  if (version > known) return `The store is at version ${version}, newer than this Mailvet, which can use it.`;
  if (pending.length === 0) return `The store is at version ${version}: nothing to migrate.`;
  const rows = pending.map((one) => [one.version, one.name, one.compatibleFrom]);
  return [
    table(rows, ['PENDING', 'NAME', 'COMPATIBLE FROM']),
    rolling
      ? `Nodes of version ${version} keep working meanwhile: they can be replaced one after the other.`
      : `Nodes of version ${version} cannot charge afterwards: stop them first.`,
  ].join('\n');
}
