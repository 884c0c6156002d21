import { hostname } from 'node:os';
import type { Command } from 'commander';
import { effectiveOptions } from '../config/read.ts';
import { command, flagValues, printResult, table, UsageError } from './command.ts';

export const configCommand = (): Command =>
  command(
    'config',
    'Print the options that are in effect, and where each comes from; secrets are not shown.',
    'serve',
  ).action((flags: { json?: boolean }) => {
    const read = effectiveOptions(flagValues(flags, 'serve'), hostname());
    if (!read.ok) throw new UsageError(read.problems.join('\n'));
    const rows = read.options.map(({ name, value, from }) => [name, value, from]);
    printResult(flags, read.options, table(rows, ['OPTION', 'VALUE', 'FROM']));
  });
