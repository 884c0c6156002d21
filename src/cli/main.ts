import { Command, CommanderError } from 'commander';
import { Refusal } from '../kernel/errors.ts';
import { VERSION } from '../kernel/version.ts';
import { accountCommand } from './account.ts';
import { sentenceOf, WrongUse } from './command.ts';
import { doctorCommand } from './doctor.ts';
import { keyCommand } from './key.ts';
import { listsCommand } from './lists.ts';
import { migrateCommand } from './migrate.ts';
import { serveCommand } from './serve.ts';
import { userCommand } from './user.ts';
import { verifyCommand } from './verify.ts';

/** Runs one command line; answers the exit code: 0, 1 (failed) or 2 (wrong use). */
async function run(argv: readonly string[]): Promise<number> {
  const program = new Command('mailvet')
    .description('Email verification: one question, one verdict, and why.')
    .version(VERSION)
    .showHelpAfterError('(mailvet <command> --help says what it takes)')
    .exitOverride();
  const commands = [
    serveCommand,
    verifyCommand,
    accountCommand,
    keyCommand,
    userCommand,
    listsCommand,
    doctorCommand,
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
    const wrong = error instanceof WrongUse || (error instanceof Refusal && error.status < 500);
    const sentence = sentenceOf(error);
    process.stderr.write(
      json ? `${JSON.stringify({ error: sentence })}\n` : `mailvet: ${sentence.replaceAll('\n', '\nmailvet: ')}\n`,
    );
    return wrong ? 2 : 1;
  }
}

/** Errors are thrown and not printed where a program reads them: `run` prints them as JSON then. */
function overrideExit(command: Command, json: boolean): void {
  command.exitOverride();
  if (json) command.configureOutput({ outputError: () => undefined, writeErr: () => undefined });
  for (const sub of command.commands) overrideExit(sub, json);
}

// A reader that went away (`mailvet … | head`) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await run(process.argv.slice(2));
