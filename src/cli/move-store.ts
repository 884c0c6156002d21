import type { Command } from 'commander';
import { systemClock } from '../kernel/clock.ts';
import { messageOf } from '../kernel/errors.ts';
import { counted, grouped } from '../kernel/format.ts';
import type { Moved } from '../store/store.ts';
import { CommandFailure, command, openConfiguredStore, optionsFrom, printResult, UsageError } from './command.ts';
import { createShareBar } from './progress.ts';

const MEMORY_CANNOT_MOVE = 'A store in memory ends with its process: it cannot be moved.';

async function moveFailure(error: unknown): Promise<Error> {
  const [{ FileRefused }, { MoveRefused }] = await Promise.all([
    import('../store/new-file.ts'),
    import('../store/moving.ts'),
  ]);
  if (error instanceof CommandFailure) return error;
  const wrong = error instanceof FileRefused || error instanceof MoveRefused;
  return wrong ? new UsageError(error.message) : new CommandFailure(messageOf(error));
}

const movedText = ({ rows, tables }: Moved): string =>
  `${counted(rows, 'row')}: ${counted(tables.accounts ?? 0, 'account')}, ${counted(tables.verifications ?? 0, 'verification')}`;

export const exportStoreCommand = (): Command =>
  command(
    'export-store',
    'Write the whole store to a file that another database can take; the service must be stopped.',
  )
    .argument('<file>', 'where to write it')
    .option('--force', 'replace the file if it exists')
    .action(async (to: string, flags: { json?: boolean; force?: boolean }) => {
      const options = optionsFrom(flags, 'export-store');
      const { databaseUrl: url } = options;
      if (url === 'sqlite::memory:') throw new UsageError(MEMORY_CANNOT_MOVE);
      const [{ writeNewFile }, { writeLines }, { sqlitePathOf }] = await Promise.all([
        import('../store/new-file.ts'),
        import('../store/moving-file.ts'),
        import('../store/sqlite/private-files.ts'),
      ]);
      const store = await openConfiguredStore(options);
      try {
        const from = url.startsWith('sqlite:') ? sqlitePathOf(url) : null;
        const { file, bytes, written } = await writeNewFile({ to, force: flags.force === true, store: from }, (part) =>
          writeLines(part, (write) => store.moving.export(write)),
        );
        const size = `${grouped(Math.ceil(bytes / 1e6))} MB`;
        printResult(flags, { file, bytes, ...written }, `Exported ${movedText(written)}, to ${file} (${size}).`);
      } catch (error) {
        throw await moveFailure(error);
      } finally {
        await store.close();
      }
    });

export const importStoreCommand = (): Command =>
  command(
    'import-store',
    'Fill a new, empty store from a file of export-store; if it was interrupted, run it again to go on.',
  )
    .argument('<file>', 'what export-store has written')
    .action(async (from: string, flags: { json?: boolean }) => {
      const options = optionsFrom(flags, 'import-store');
      if (options.databaseUrl === 'sqlite::memory:') throw new UsageError(MEMORY_CANNOT_MOVE);
      const { readLines } = await import('../store/moving-file.ts');
      const terminal = process.stderr.isTTY && flags.json !== true;
      const onProgress = createShareBar(systemClock, (bar) => void (terminal && process.stderr.write(bar)));
      const store = await openConfiguredStore(options, { creates: true });
      try {
        const moved = await store.moving.import(() => readLines(from), onProgress);
        onProgress(1);
        const problems = await store.accounts.audit();
        const sums = problems.length === 0 ? 'All sums agree.' : `But sums do not agree:\n${problems.join('\n')}`;
        printResult(
          flags,
          { ...moved, problems },
          `Imported ${movedText(moved)}. The store has what the file has. ${sums}`,
        );
        if (problems.length > 0) process.exitCode = 1;
      } catch (error) {
        onProgress(1);
        throw await moveFailure(error);
      } finally {
        await store.close();
      }
    });
