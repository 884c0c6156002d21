import type { Command } from 'commander';
import { command, openedStore, optionsFrom, say } from './command.ts';

export const migrateCommand = (): Command =>
  command('migrate', 'Bring the store to this version; refuses a store that is newer.').action(
    async (flags: { json?: boolean }) => {
      const store = await openedStore(optionsFrom(flags, 'migrate'));
      try {
        const { from, to } = await store.migrate();
        say(
          flags,
          { from, to },
          from === to ? `The store is at version ${to}.` : `The store went from version ${from} to ${to}.`,
        );
      } finally {
        await store.close();
      }
    },
  );
