import { Command, CommanderError } from 'commander';
import { ApiError } from '../kernel/errors.ts';
import { VERSION } from '../kernel/version.ts';
import { accountCommand } from './account.ts';
import { auditCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { messageOf, UsageError } from './command.ts';
import { disposableCommand } from './disposable.ts';
import { doctorCommand } from './doctor.ts';
import { jobsCommand } from './jobs.ts';
import { keyCommand } from './key.ts';
import { listsCommand } from './lists.ts';
import { mcpCommand } from './mcp.ts';
import { migrateCommand } from './migrate.ts';
import { repliesCommand } from './replies.ts';
import { replyCommand } from './reply.ts';
import { serveCommand } from './serve.ts';
import { userCommand } from './user.ts';
import { verifyCommand } from './verify.ts';

/** Runs one command line and returns the exit code: 0, 1 (failed) or 2 (usage error). */
async function run(argv: readonly string[]): Promise<number> {
  const program = new Command('mailvet')
    .description('Self-hosted email verification.')
    .version(VERSION)
    .showHelpAfterError('(run mailvet <command> --help for usage)')
    .exitOverride();
  const commands = [
    serveCommand,
    verifyCommand,
    accountCommand,
    keyCommand,
    userCommand,
    listsCommand,
    disposableCommand,
    mcpCommand,
    replyCommand,
    repliesCommand,
    jobsCommand,
    doctorCommand,
    backupCommand,
    auditCommand,
    migrateCommand,
  ];
  for (const make of commands) program.addCommand(make());
  const json = argv.includes('--json');
  overrideExit(program, json);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return typeof process.exitCode === 'number' ? process.exitCode : 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (json && error.exitCode !== 0)
        process.stderr.write(`${JSON.stringify({ error: error.message.replace(/^error: /, '') })}\n`);
      return error.exitCode === 0 ? 0 : 2;
    }
    const isUsageError = error instanceof UsageError || (error instanceof ApiError && error.status < 500);
    const message = messageOf(error);
    process.stderr.write(
      json ? `${JSON.stringify({ error: message })}\n` : `mailvet: ${message.replaceAll('\n', '\nmailvet: ')}\n`,
    );
    return isUsageError ? 2 : 1;
  }
}

/** Makes commander throw instead of exiting; with `--json`, `run` prints its errors as JSON. */
function overrideExit(command: Command, json: boolean): void {
  command.exitOverride();
  if (json) command.configureOutput({ outputError: () => undefined, writeErr: () => undefined });
  for (const sub of command.commands) overrideExit(sub, json);
}

// A closed pipe (`mailvet … | head`) is not a failure; a full disk is.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  const message = `cannot write to standard output: ${error.message}.`;
  process.stderr.write(
    process.argv.includes('--json') ? `${JSON.stringify({ error: message })}\n` : `mailvet: ${message}\n`,
  );
  process.exit(1);
});

process.exitCode = await run(process.argv.slice(2));
