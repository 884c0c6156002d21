import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { Command, Option } from 'commander';
import { flagsOf } from '../config/help.ts';
import { flagOf, type OptionKey, optionsOf } from '../config/options.ts';
import { type Options, readOptions, systemEnvironment } from '../config/read.ts';
import type { Actor, Store } from '../store/store.ts';

/** The command ends with exit code 2. */
export class UsageError extends Error {}
/** The command ends with exit code 1. */
export class CommandFailure extends Error {}

/** A command with `--json` and a flag for each option of the table that applies to it. */
export function command(name: string, description: string, optionsFor = name): Command {
  const created = new Command(name)
    .description(description)
    .option('--json', 'print machine-readable JSON')
    // `run` takes it wherever it is.
    .option('--env-file <path>', 'read options from this file; those of the environment come first');
  for (const { term, text } of flagsOf(optionsFor)) created.addOption(new Option(term, text));
  return created;
}

/**
 * The options of this run: flags win over the environment, the environment over defaults. Throws UsageError with all
 * problems.
 */
export function optionsFrom(
  flags: object,
  optionsFor: string,
  conflictsOf?: Parameters<typeof readOptions>[4],
): Options {
  const read = readOptions(systemEnvironment(), flagValues(flags, optionsFor), hostname(), optionsFor, conflictsOf);
  if (!read.ok) throw new UsageError(read.problems.join('\n'));
  return read.options;
}

/** Takes those flags of a command that are in the table of options. */
export function flagValues(flags: object, optionsFor: string): Partial<Record<OptionKey, string | true>> {
  const given: Partial<Record<OptionKey, string | true>> = {};
  for (const [key, row] of optionsOf(optionsFor)) {
    const value = (flags as Record<string, unknown>)[camel(flagOf(row).slice(2))];
    if (typeof value === 'string' || value === true) given[key] = value;
  }
  return given;
}

/** Returns the long flags of a command, as `--help` lists them. */
export const shownFlags = (command: Command): { long: string; term: string; description: string }[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, flags, description }) => ({ long: long ?? flags, term: flags, description }));

const camel = (flag: string): string => flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Opens and migrates the store for `use`, and always closes it. */
export async function withStore<T>(options: Options, use: (store: Store) => Promise<T>, opening?: Opening): Promise<T> {
  const store = await openConfiguredStore(options, opening);
  try {
    await store.migrate();
    return await use(store);
  } finally {
    await store.close();
  }
}

interface Opening {
  /** Whether an SQLite file that is missing is created. For other commands, a mistyped path would be an empty store. */
  readonly creates?: boolean;
}

/** Imports the store lazily, because most commands need none. */
export async function openConfiguredStore(options: Options, { creates }: Opening = {}): Promise<Store> {
  const { databaseUrl } = options;
  const [{ openStore }, { systemClock }, { configuredPlans }, missing] = await Promise.all([
    import('../store/open.ts'),
    import('../kernel/clock.ts'),
    import('../config/plans.ts'),
    creates ? null : missingFile(databaseUrl),
  ]);
  if (missing !== null)
    throw new CommandFailure(
      `there is no store at ${missing}: set MAILVET_DATABASE_URL to that of the service. mailvet serve and mailvet migrate create it.`,
    );
  return openStore({ url: databaseUrl, clock: systemClock, plans: await configuredPlans(options) });
}

/** The path of an SQLite store whose file does not exist, else null. */
export async function missingFile(databaseUrl: string): Promise<string | null> {
  if (!databaseUrl.startsWith('sqlite:')) return null;
  const { sqlitePathOf } = await import('../store/sqlite/private-files.ts');
  const file = sqlitePathOf(databaseUrl);
  return file === ':memory:' || existsSync(file) ? null : file;
}

/** The actor in the audit log: the operating system user who runs the command. */
export function commandActor(): Actor {
  const name = (() => {
    try {
      return userInfo().username;
    } catch {
      // In a container, the user ID may have no name.
      return `user ${process.getuid?.() ?? 'unknown'}`;
    }
  })();
  return { kind: 'command', id: null, name, ip: null };
}

/** Prints one JSON document with `--json`, otherwise text. */
export function printResult(flags: { json?: boolean }, json: unknown, text: string): void {
  process.stdout.write(flags.json ? `${JSON.stringify(json)}\n` : `${text}\n`);
}

/** Aligns the columns. */
export function table(rows: readonly (readonly (string | number | null)[])[], head: readonly string[]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => printable(String(cell ?? '-'))))];
  const widths = head.map((_, i) => Math.max(...cells.map((row) => [...row[i]!].length)));
  return cells
    .map((row) =>
      row.map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat(widths[i]! - [...cell].length))).join('  '),
    )
    .join('\n');
}

/**
 * Untrusted text must not control the terminal: control and bidirectional characters are printed as their code points.
 */
export const printable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);

/** What a flag that may be repeated, or take a list, names. */
export const splitList = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => text.split(',')).filter((text) => text.trim() !== '');

/** Parser for an integer flag, bounds included. */
export function wholeNumber(flag: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const n = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (n >= min && n <= max) return n;
    throw new UsageError(`${flag} must be a whole number from ${min} to ${max}; it is ${JSON.stringify(text)}.`);
  };
}
