import { type Command, CommanderError } from 'commander';
import { readEnvironmentFile } from '../config/read.ts';
import { ApiError, messageOf } from '../kernel/errors.ts';
import { printable, UsageError } from './command.ts';
import { createProgram } from './program.ts';

/** Runs one command line and returns the exit code: 0, 1 (failed) or 2 (usage error). */
async function runCommand(given: readonly string[]): Promise<number> {
  const program = createProgram();
  const json = asksForJson(given);
  overrideExit(program, json);
  // Also where it is before the command.
  program.hook('preAction', (_, action) => void (json && action.setOptionValue('json', true)));
  try {
    await program.parseAsync(arranged(program, withEnvironmentFile(given)), { from: 'user' });
    return typeof process.exitCode === 'number' ? process.exitCode : 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      // Without a command, commander prints the help.
      const text = error.code === 'commander.help' ? NO_COMMAND : error.message.replace(/^error: /, '');
      if (json && error.exitCode !== 0) process.stderr.write(`${JSON.stringify({ error: text })}\n`);
      return error.exitCode === 0 ? 0 : 2;
    }
    const isUsageError = error instanceof UsageError || (error instanceof ApiError && error.status < 500);
    const message = messageOf(error);
    // It may quote a file or a server.
    const lines = message.split('\n').map((line) => `mailvet: ${printable(line)}\n`);
    process.stderr.write(json ? `${JSON.stringify({ error: message })}\n` : lines.join(''));
    return isUsageError ? 2 : 1;
  }
}

const ENV_FILE = '--env-file';

/** Reads the file that is named before or behind the command; returns the other words. Throws UsageError. */
function withEnvironmentFile(argv: readonly string[]): string[] {
  const words = [...argv];
  const end = words.indexOf('--');
  const at = words.findIndex((word) => word === ENV_FILE || word.startsWith(`${ENV_FILE}=`));
  if (at < 0 || (end >= 0 && at > end)) return words;
  const path = words[at] === ENV_FILE ? words.splice(at, 2)[1] : words.splice(at, 1)[0]?.slice(ENV_FILE.length + 1);
  if (!path) throw new UsageError(`${ENV_FILE} needs the path of a file.`);
  try {
    readEnvironmentFile(path);
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
  return words;
}

const NO_COMMAND = 'give a command; mailvet --help lists them.';

const asksForJson = (argv: readonly string[]): boolean => {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).some((word) => word === '--json' || word.startsWith('--json='));
};

/**
 * The words as commander takes them: `help account create`, of which it reads only the first two, as `account create
 * --help`, and without a `--json` before the command. Throws UsageError if there is no such command to help with.
 */
function arranged(program: Command, argv: readonly string[]): string[] {
  const isHelp = argv[0] === 'help';
  const words = isHelp ? [...argv.slice(1), '--help'] : [...argv];
  // Earlier versions had this name.
  if (words[0] === '-V') words[0] = '--version';
  let group = program;
  for (let at = 0; at < words.length && group.commands.length > 0; ) {
    const word = words[at] ?? '';
    const found = group.commands.find((one) => one.name() === word);
    if (found !== undefined) {
      group = found;
      at += 1;
    } else if (word === '--json') words.splice(at, 1);
    else if (isHelp && !word.startsWith('-')) throw new UsageError(`unknown command ${JSON.stringify(word)}.`);
    else break;
  }
  return words;
}

/** Makes commander throw instead of exiting; with `--json`, `runCommand` prints its errors as JSON. */
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
    asksForJson(process.argv.slice(2)) ? `${JSON.stringify({ error: message })}\n` : `mailvet: ${message}\n`,
  );
  process.exit(1);
});

process.exitCode = await runCommand(process.argv.slice(2));
