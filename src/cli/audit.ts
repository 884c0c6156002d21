import type { Command } from 'commander';
import { CommandFailure, command, openConfiguredStore, optionsFrom, printResult } from './command.ts';

export const auditCommand = (): Command =>
  command(
    'audit',
    'Check that balances, holds, ledger, log and usage counters agree, also while the service runs; exit with 1 if not.',
  ).action(async (flags: { json?: boolean }) => {
    const store = await openConfiguredStore(optionsFrom(flags, 'audit'));
    try {
      const { version, pending } = await store.checkSchema();
      if (pending.length > 0)
        throw new CommandFailure(`The store is at schema version ${version}: run mailvet migrate first.`);
      const problems = await store.accounts.audit();
      printResult(flags, { problems }, problems.length === 0 ? 'All sums agree.' : problems.join('\n'));
      if (problems.length > 0) process.exitCode = 1;
    } finally {
      await store.close();
    }
  });
