import type { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { messageOf } from '../kernel/errors.ts';
import { grouped } from '../kernel/format.ts';
import { CommandFailure, command, optionsFrom, printResult, UsageError } from './command.ts';
import { createShareBar } from './progress.ts';

export const backupCommand = (): Command =>
  command('backup', 'Copy an SQLite store to a file, also while the service runs; the copy is consistent and checked.')
    .argument('<file>', 'where to write the copy')
    .option('--force', 'replace the file if it exists')
    .action(async (to: string, flags: { json?: boolean; force?: boolean }) => {
      const { databaseUrl: url } = optionsFrom(flags, 'backup');
      if (!url.startsWith('sqlite:')) throw new UsageError(POSTGRES);
      if (url === 'sqlite::memory:') throw new UsageError('A store in memory cannot be backed up.');
      const [{ FileRefused }, { backupSqlite }] = await Promise.all([
        import('../store/new-file.ts'),
        import('../store/sqlite/backup.ts'),
      ]);
      const terminal = process.stderr.isTTY && flags.json !== true;
      const onProgress = createShareBar(systemClock, (text) => void (terminal && process.stderr.write(text)));
      try {
        const request = { url, to, force: flags.force === true, signal: interruption(), onProgress };
        const { file, bytes, schemaVersion } = await backupSqlite(request);
        onProgress(1);
        const size = `${grouped(Math.ceil(bytes / 1e6))} MB`;
        printResult(
          flags,
          { file, bytes, schema_version: schemaVersion },
          `Backed up the store to ${file}: ${size}, schema version ${schemaVersion}, checked.`,
        );
      } catch (error) {
        onProgress(1);
        throw error instanceof FileRefused ? new UsageError(error.message) : new CommandFailure(messageOf(error));
      }
    });

const POSTGRES =
  'This store is a PostgreSQL database: back it up with pg_dump, or with base backups and WAL archiving ' +
  '(https://www.postgresql.org/docs/current/backup.html; docs/backups.md).';

/** Aborts at Ctrl-C and the like; a repeated signal does not hinder the cleaning up. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  const stop = () => controller.abort(new CommandFailure('Interrupted: no backup was written.'));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop);
  return controller.signal;
}
