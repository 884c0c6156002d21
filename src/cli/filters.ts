import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'commander';
import type { FilterImport } from '../../sdk/src/index.ts';
import { messageOf } from '../kernel/errors.ts';
import { FILTER_TYPES, type FilterType } from '../kernel/facts/filter-types.ts';
import { given } from '../kernel/facts/given.ts';
import { FILTERS_PAGE, FILTERS_PER_PAGE } from '../kernel/facts/limits.ts';
import { counted, grouped } from '../kernel/format.ts';
import { CommandFailure, command, printable, printResult, table, wholeNumber } from './command.ts';
import { openOutputFile, uploadSource } from './input-file.ts';
import { type ReadFlags, readQuery, readText, withReadOptions } from './read-options.ts';
import { withServer } from './server-error.ts';

export function filtersCommand(): Command {
  const group = new Command('filters').description('What an account blocks and allows, on a server.');
  group.addCommand(importFile());
  group.addCommand(listFiltersCommand());
  group.addCommand(exportFile());
  return group;
}

interface ImportFlags extends ReadFlags {
  readonly json?: boolean;
  readonly dryRun?: boolean;
}

const importFile = () =>
  withReadOptions(
    command('import', 'Add the filters of a file.', 'filters')
      .argument('<file>', 'CSV or other text, a workbook, JSON; - for standard input')
      .option('--dry-run', 'change nothing, and show what would be'),
    '',
    'values',
  ).action(async (file: string, flags: ImportFlags) => {
    await withServer(flags, 'filters', async ({ filters }) => {
      const read = readQuery(flags);
      const source = await uploadSource(file);
      // This fails before a file is sent to a server that may not want it.
      await filters.list({ per_page: 1 });
      const imported = await filters.import(source, { ...read, ...(flags.dryRun ? { dry_run: true } : {}) });
      printResult(flags, imported, importText(imported));
      if (imported.invalid === 0) return;
      const said = flags.dryRun ? 'cannot be used' : 'were not imported';
      throw new CommandFailure(`${grouped(imported.invalid)} of ${counted(imported.rows, 'row')} ${said}.`);
    });
  });

function importText({ read, warnings, errors, invalid, filters, ...counts }: FilterImport): string {
  const { dry_run: dryRun, rows, added, existing } = counts;
  const valuesIn = read.columns.flatMap(({ column, field }) => (field === 'value' ? [column] : []));
  const more = invalid - errors.length;
  const cells = filters.map((one) => [
    one.row,
    one.filter_type,
    one.value,
    one.action,
    one.match,
    one.expires_at,
    one.reason,
  ]);
  return [
    readText(read, valuesIn, 'values'),
    ...warnings.map((message) => `Warning: ${printable(message)}`),
    ...errors.map(({ row, field, text, error }) =>
      printable(`Row ${grouped(row)}${field === null ? '' : `, ${field}`}: ${error} It is: ${text}`),
    ),
    ...(more > 0 ? [`${grouped(more)} more rows cannot be used.`] : []),
    ...(dryRun && cells.length > 0
      ? [table(cells, ['ROW', 'TYPE', 'VALUE', 'ACTION', 'MATCH', 'EXPIRES', 'REASON'])]
      : []),
    `${counted(rows, 'row')}: ${grouped(added)} ${dryRun ? 'would be added' : 'added'}, ${grouped(existing)} there already, ${grouped(invalid)} invalid`,
  ].join('\n');
}

interface ListFlags {
  readonly json?: boolean;
  readonly type?: FilterType;
  readonly query?: string;
  readonly page?: number;
  readonly limit?: number;
}

const listFiltersCommand = () =>
  command('list', 'List filters, newest first.', 'filters')
    .addOption(new Option('--type <type>', 'only those of a type').choices(FILTER_TYPES))
    .option('--query <text>', 'only those with this in value or reason')
    .option('--limit <n>', `how many, at most ${FILTERS_PER_PAGE.max}`, wholeNumber('--limit', 1, FILTERS_PER_PAGE.max))
    .option('--page <n>', 'which page of so many', wholeNumber('--page', FILTERS_PAGE.min, FILTERS_PAGE.max))
    .action(async ({ type, query, limit, page, ...flags }: ListFlags) => {
      await withServer(flags, 'filters', async ({ filters }) => {
        const found = await filters.list(given({ filter_type: type, query, per_page: limit, page }));
        const rows = found.filters.map((one) => [
          one.id,
          one.filter_type,
          one.value,
          one.action,
          one.match,
          one.expired ? 'expired' : one.expires_at,
          one.hits,
          one.reason,
        ]);
        const { current_page: at, total_pages: pages, total_count: total } = found.pagination;
        const head = ['ID', 'TYPE', 'VALUE', 'ACTION', 'MATCH', 'EXPIRES', 'HITS', 'REASON'];
        const text = `${table(rows, head)}\n${counted(total, 'filter')}, page ${grouped(at)} of ${grouped(Math.max(1, pages))}`;
        printResult(flags, found, text);
      });
    });

const exportFile = () =>
  command('export', 'Write all filters as CSV, which can be imported.', 'filters')
    .option('--out <file>', 'where to write it (default: standard output)')
    .action(async ({ out, ...flags }: { readonly out?: string }) => {
      await withServer(flags, 'filters', async ({ filters }) => {
        const csv = await filters.export();
        const output = out === undefined ? process.stdout : await openOutputFile(out);
        await pipeline(csv, output, { end: output !== process.stdout }).catch((error: unknown) => {
          throw new CommandFailure(`the export ended early, what is written is incomplete: ${messageOf(error)}`);
        });
      });
    });
