import type { Command } from 'commander';
import { command, openConfiguredStore, optionsFrom, printResult } from './command.ts';

export const migrateCommand = (): Command =>
  command(
    'migrate',
    'Migrate the store to the current version; fails if a newer version of Mailvet has migrated it.',
  ).action(async (flags: { json?: boolean }) => {
    const store = await openConfiguredStore(optionsFrom(flags, 'migrate'));
    try {
      const { from, to } = await store.migrate();
      printResult(
        flags,
        { from, to },
        from === to ? `The store is at version ${to}.` : `Migrated the store from version ${from} to ${to}.`,
      );
    } finally {
      await store.close();
    }
  });
