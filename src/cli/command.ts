import { userInfo } from 'node:os';
import { Command, Option } from 'commander';
import { flagsOf } from '../config/help.ts';
import { flagOf, type OptionKey, optionsOf } from '../config/options.ts';
import { type Options, readOptions, systemEnvironment } from '../config/read.ts';
import { Refusal } from '../kernel/errors.ts';
import type { Actor, Store } from '../store/store.ts';

/** Exit 2: the command was used wrongly. Exit 1: it was used rightly and failed. */
export class WrongUse extends Error {}
export class Failed extends Error {}

/** A command with `--json` and a flag for each option of the table that it reads. */
export function command(name: string, description: string, optionsFor = name): Command {
  const made = new Command(name).description(description).option('--json', 'print JSON, for programs');
  for (const { term, text } of flagsOf(optionsFor)) made.addOption(new Option(term, text));
  return made;
}

/** The options of one run: flags before the environment before defaults; all that is wrong, at once. */
export function optionsFrom(flags: object, optionsFor: string): Options {
  const given: Partial<Record<OptionKey, string | true>> = {};
  for (const [key, row] of optionsOf(optionsFor)) {
    const value = (flags as Record<string, unknown>)[camel(flagOf(row).slice(2))];
    if (typeof value === 'string' || value === true) given[key] = value;
  }
  const read = readOptions(systemEnvironment(), given);
  if (!read.ok) throw new WrongUse(read.problems.join('\n'));
  return read.options;
}

const camel = (flag: string): string => flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Opens the store, brings it to this version, and closes it whatever `use` does. */
export async function withStore<T>(options: Options, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openedStore(options);
  try {
    await store.migrate();
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Not imported above: what a command does not use need not be loaded for it. */
export async function openedStore({ databaseUrl }: Options): Promise<Store> {
  const [{ openStore }, { systemClock }] = await Promise.all([
    import('../store/open.ts'),
    import('../kernel/clock.ts'),
  ]);
  return openStore({ url: databaseUrl, clock: systemClock });
}

/** Who a command is in the audit log: the user of this machine who runs it. */
export function commandActor(): Actor {
  const name = (() => {
    try {
      return userInfo().username;
    } catch {
      // A container may run under a number that has no name.
      return `user ${process.getuid?.() ?? 'unknown'}`;
    }
  })();
  return { kind: 'command', id: null, name, ip: null };
}

/** What a command says: one JSON text for programs, else lines for people. */
export function say(flags: { json?: boolean }, json: unknown, people: string): void {
  process.stdout.write(flags.json ? `${JSON.stringify(json)}\n` : `${people}\n`);
}

/** Rows as columns, for people. */
export function table(rows: readonly (readonly (string | number | null)[])[], head: readonly string[]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => printable(String(cell ?? '-'))))];
  const widths = head.map((_, i) => Math.max(...cells.map((row) => [...row[i]!].length)));
  return cells
    .map((row) =>
      row.map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat(widths[i]! - [...cell].length))).join('  '),
    )
    .join('\n');
}

/** What strangers wrote must not drive the terminal: control and direction characters are shown as their code. */
export const printable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);

export const sentenceOf = (error: unknown): string => {
  if (error instanceof Refusal) return error.message;
  return error instanceof Error ? error.message : String(error);
};

/** A whole number of a flag. */
export function whole(flag: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const n = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (n >= min && n <= max) return n;
    throw new WrongUse(`${flag} must be a whole number from ${min} to ${max}; it is ${JSON.stringify(text)}.`);
  };
}
