import type { Command } from 'commander';
import { shownFlags } from '../../src/cli/command.ts';
import { createProgram } from '../../src/cli/program.ts';
import { flagOf, optionsOf } from '../../src/config/options.ts';

/** For troff: no line begins with a control character, and hyphens are those of commands (groff_char(7)). */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('`', '')
    .replace(/^(?=[.'])/gm, '\\&');

const OPTION_FLAGS: ReadonlySet<string> = new Set(optionsOf('*').map(([, option]) => flagOf(option)));
/** Every command has these. */
const COMMON: ReadonlySet<string> = new Set(['--json', '--env-file', '--help']);

function sectionsOf(command: Command, path: readonly string[]): string[] {
  if (command.commands.length > 0) return command.commands.flatMap((sub) => sectionsOf(sub, [...path, sub.name()]));
  const words = command.registeredArguments.map((argument) => {
    const word = `${argument.name()}${argument.variadic ? '…' : ''}`;
    return argument.required ? `<${word}>` : `[${word}]`;
  });
  const own = shownFlags(command).filter(({ long }) => !OPTION_FLAGS.has(long) && !COMMON.has(long));
  return [
    `.SS ${escaped([...path, ...words].join(' '))}`,
    escaped(command.description()),
    ...own.flatMap(({ term, description }) => ['.TP', `.B ${escaped(term)}`, escaped(description)]),
  ];
}

/** man/mailvet.1, from the commands and the table of options. Without a date, so that only they change it. */
export function manPage(): string {
  const program = createProgram();
  const options = optionsOf('*').flatMap(([, option]) => [
    '.TP',
    `.BR ${escaped(flagOf(option))} ", " ${escaped(option.env)}`,
    escaped(`${option.help} Default: ${option.default ?? option.defaultText ?? 'none'}.`),
  ]);
  const lines = [
    '.\\" Generated from src/cli and src/config/options.ts by `npm run gen`; edit them there.',
    '.TH MAILVET 1 "" Mailvet',
    '.SH NAME',
    'mailvet \\- self\\-hosted email verification',
    '.SH SYNOPSIS',
    '.B mailvet',
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    escaped(
      'Every command has --help, --json for machine-readable output, and --env-file for a file of options. It exits with 0, with 1 if it failed, and with 2 if it was called wrongly.',
    ),
    '.SH COMMANDS',
    ...sectionsOf(program, ['mailvet']),
    '.SH OPTIONS AND ENVIRONMENT',
    escaped(
      'Each option is a flag of the commands that use it, and a variable. Secrets are also read from the file that the variable with _FILE at its end names.',
    ),
    ...options,
  ];
  return `${lines.join('\n')}\n`;
}
