import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'commander';
import type { List, Mailvet } from '../../sdk/src/index.ts';
import { readAddressFile } from '../files/read-file.ts';
import { messageOf } from '../kernel/errors.ts';
import { given } from '../kernel/facts/given.ts';
import { LIST_RETRY_MINUTES } from '../kernel/facts/limits.ts';
import { hasEnded, RESULT_FORMATS, type ResultFormat } from '../kernel/facts/lists.ts';
import { DELIVERABILITIES, type Deliverability } from '../kernel/facts/reasons.ts';
import { choice, counted, grouped } from '../kernel/format.ts';
import { CommandFailure, command, printable, printResult, table, UsageError, wholeNumber } from './command.ts';
import { openInputFile, openOutputFile, uploadSource } from './input-file.ts';
import { type LevelFlags, levelOf, withLevel } from './level.ts';
import { bar, CLEAR_LINE, duration } from './progress.ts';
import { type ReadFlags, readQuery, readText, withDedupe, withReadOptions } from './read-options.ts';
import { deliverabilities, formatByName, neverFound, ONLY_HELP } from './result-rows.ts';
import { withServer } from './server-error.ts';

/** The commands about disposable domains had this name. */
const MOVED = ['update', 'show'] as const;

export function listsCommand(): Command {
  const group = new Command('lists').description('Verify lists of addresses on a server.');
  group.addCommand(submit());
  group.addCommand(readAgainCommand());
  group.addCommand(status());
  group.addCommand(action('start', 'Start a list that was submitted with --no-start, or lacked credits.'));
  group.addCommand(action('pause', 'Pause a list.'));
  group.addCommand(action('resume', 'Resume a paused list.'));
  group.addCommand(action('cancel', 'End a list; what is held for the rest is released.'));
  group.addCommand(download());
  group.addCommand(deleteListCommand());
  for (const name of MOVED) group.addCommand(moved(name), { hidden: true });
  return group;
}

interface Common {
  readonly json?: boolean;
}

const withLists = <T>(flags: object, use: (lists: Mailvet['lists']) => Promise<T>): Promise<T> =>
  withServer(flags, 'lists', (mailvet) => use(mailvet.lists));

interface SubmitFlags extends Common, ReadFlags, LevelFlags {
  readonly policy?: string;
  readonly name?: string;
  readonly header?: boolean;
  readonly retryMinutes?: number;
  readonly patience?: number;
  readonly start: boolean;
  readonly watch?: boolean;
}

const submit = () =>
  withFileOptions(
    withLevel(
      command('submit', 'Upload a file of addresses and start to verify it.', 'lists').argument(
        '<file>',
        'CSV or other text, a workbook, JSON; - for standard input',
      ),
      'what to check (default: as the policy says, or mx)',
    )
      .option('--policy <name>', 'the policy of the account that decides from each result')
      .option('--name <name>', 'name of the list (default: that of the file)'),
  )
    .option('--header', 'the same as --header-row 1')
    .option('--no-header', 'the same as --header-row 0')
    .option(
      '--retry-minutes <minutes>',
      'how long deferred addresses are tried again',
      wholeNumber('--retry-minutes', LIST_RETRY_MINUTES.min, LIST_RETRY_MINUTES.max),
    )
    .addOption(
      new Option('--patience <minutes>', 'the earlier name of --retry-minutes')
        .argParser(wholeNumber('--patience', LIST_RETRY_MINUTES.min, LIST_RETRY_MINUTES.max))
        .hideHelp(),
    )
    .option('--no-start', 'do not start it yet, so that its price can be seen first')
    .option('--watch', 'show the progress until it ends; Ctrl-C leaves it running')
    .action(async (file: string, flags: SubmitFlags) => {
      await withLists(flags, async (lists) => {
        const read = readQuery(flags);
        const retryMinutes = flags.retryMinutes ?? flags.patience;
        const level = levelOf(flags);
        const source = await uploadSource(file);
        // This fails before a large file is sent to a server that may not want it.
        await lists.list({ per_page: 1 });
        const list = await lists.create(source, {
          ...given({
            name: flags.name ?? (file === '-' ? undefined : basename(file)),
            validation_type: level,
            policy: flags.policy,
            dedupe: flags.dedupe,
            retry_minutes: retryMinutes,
          }),
          ...read,
          start: flags.start,
        });
        const print = () => printResult(flags, list, listText(list));
        if (flags.watch && list.status !== 'ready') return watch(lists, list.id, flags, print);
        print();
        if (list.error !== null) throw new CommandFailure(`the list was not started: ${list.error.error}`);
        if (!flags.json) process.stdout.write(`${lookAgain(list.id)}\n`);
      });
    });

const withFileOptions = (made: Command): Command => withDedupe(withReadOptions(made));

const readAgainCommand = () =>
  withFileOptions(
    command('read', 'Read the file of a list that is not started in another way.', 'lists').argument('<id>'),
  ).action(async (id: string, flags: Common & ReadFlags) => {
    await withLists(flags, async (lists) => {
      const read = readQuery(flags);
      const { dedupe } = flags;
      // What else the file was asked to be read by stays as it is.
      const isOther = Object.keys(read).length > 0 || dedupe === undefined;
      const list = await lists.update(id, given({ dedupe, read: isOther ? read : undefined }));
      printResult(flags, list, listText(list));
    });
  });

const status = () =>
  command('status', 'Show a list, or the newest lists.', 'lists')
    .argument('[id]')
    .option('--watch', 'show the progress until it ends; Ctrl-C leaves it running')
    .action(async (id: string | undefined, flags: Common & { watch?: boolean }) => {
      await withLists(flags, async (lists) => {
        if (id === undefined) {
          const page = await lists.list();
          const rows = page.lists.map((one) => [
            one.id,
            one.name,
            one.status,
            one.validation_type,
            one.rows.addresses,
            `${one.progress.percent} %`,
            one.created_at,
          ]);
          printResult(flags, page, table(rows, ['ID', 'NAME', 'STATUS', 'LEVEL', 'ADDRESSES', 'DONE', 'CREATED']));
        } else if (flags.watch) await watch(lists, id, flags);
        else {
          const list = await lists.get(id);
          printResult(flags, list, listText(list));
        }
      });
    });

/**
 * Resolves when the list has ended. Ctrl-C ends the command, not the list, from before `begin` on, which may say what
 * the list is.
 */
async function watch(lists: Mailvet['lists'], id: string, flags: Common, begin = () => {}): Promise<void> {
  const stop = new AbortController();
  const onInterrupt = () => stop.abort();
  process.once('SIGINT', onInterrupt);
  begin();
  const onProgress = (list: List) => process.stderr.isTTY && process.stderr.write(`${CLEAR_LINE}${progressLine(list)}`);
  try {
    const list = await lists.wait(id, { signal: stop.signal, onProgress });
    if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE);
    printResult(flags, list, listText(list));
    if (list.status === 'failed') throw new CommandFailure(list.error?.error ?? 'the list failed.');
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE);
    process.stderr.write(`The list keeps running. ${lookAgain(id)}\n`);
    process.exitCode = 130;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

const addresses = (n: number): string => `${grouped(n)} ${n === 1 ? 'address' : 'addresses'}`;

const lookAgain = (id: string): string => `To look at it: mailvet lists status ${id} --watch`;

function progressLine({ status, rows, progress }: List): string {
  const { done, percent, per_second: rate, eta_seconds: left, waiting } = progress;
  const parts = [`${grouped(done)} of ${addresses(rows.addresses)}`];
  if (status === 'paused') parts.push('paused');
  if (rate !== null) parts.push(`${rate}/s`);
  if (waiting > 0) parts.push(`${grouped(waiting)} to be asked about again`);
  if (left !== null) parts.push(`${duration(left)} left`);
  return `${bar(percent / 100)}  ${parts.join(', ')}`;
}

const BY_MAILBOX = ', those of one mailbox counted once';

function listText({ id, name, status, validation_type, policy, dedupe, rows, progress, ...list }: List): string {
  const { deliverability, credits, error, read, warnings } = list;
  const found = DELIVERABILITIES.map((one) => `${grouped(deliverability[one])} ${one}`).join(', ');
  return [
    `${id}  ${printable(name)}: ${status}`,
    readText(read, read.columns),
    ...warnings.map(({ message }) => `Warning: ${printable(message)}`),
    `${addresses(rows.addresses)} in ${counted(rows.total, 'row')}${dedupe === 'mailbox' ? BY_MAILBOX : ''}, level ${validation_type}${policy === null ? '' : `, policy ${policy}`}`,
    `${grouped(progress.done)} done (${progress.percent} %): ${found}`,
    `${counted(credits.used, 'credit')} used, ${grouped(credits.held)} held; at most ${grouped(credits.price)} in all`,
    ...(error === null ? [] : [`Error: ${error.error}`]),
  ].join('\n');
}

const action = (name: 'start' | 'pause' | 'resume' | 'cancel', description: string): Command =>
  command(name, description, 'lists')
    .argument('<id>')
    .action(async (id: string, flags: Common) => {
      await withLists(flags, async (lists) => {
        const list = await lists[name](id);
        printResult(flags, list, listText(list));
      });
    });

interface DownloadFlags {
  readonly format?: ResultFormat;
  readonly out?: string;
  readonly only?: readonly Deliverability[];
}

const download = () =>
  command('download', 'Download the results of a list, also while it runs.', 'lists')
    .argument('<id>')
    .addOption(
      new Option('--format <format>', `${choice(RESULT_FORMATS)} (default: by the name of --out, or csv)`).choices(
        RESULT_FORMATS,
      ),
    )
    .option('--only <verdicts>', ONLY_HELP, deliverabilities)
    .option('--out <file>', 'where to write it (default: standard output)')
    .action(async (id: string, { format, out, only, ...flags }: DownloadFlags) => {
      await withLists(flags, async (lists) => {
        const written = format ?? (out === undefined ? null : formatByName(out)) ?? 'csv';
        const query = { format: written, ...(only ? { deliverability: only.join(',') } : {}) };
        const results = await lists.results(id, query);
        const output = out === undefined ? process.stdout : await openOutputFile(out);
        const count = new RowCount();
        // Standard output stays open, or an error of the download would be thrown as one of its own.
        await pipeline(results, count.of(written), output, { end: output !== process.stdout }).catch(
          (error: unknown) => {
            throw new CommandFailure(`the download ended early, what is written is incomplete: ${messageOf(error)}`);
          },
        );
        const list = await lists.get(id);
        await sayWritten(list, only ?? null, written === 'xlsx' ? await rowsOfWorkbook(out) : count.rows);
      });
    });

async function sayWritten(list: List, only: DownloadFlags['only'] | null, rows: number | null): Promise<void> {
  const say = (text: string) => process.stderr.write(`mailvet: ${text}\n`);
  if (rows !== null) say(`${counted(rows, 'row')} written; the list has ${counted(list.rows.total, 'row')}.`);
  if (!hasEnded(list.status))
    say(
      `The list is ${list.status}: ${grouped(list.rows.addresses - list.progress.done)} of ${addresses(list.rows.addresses)} are pending.`,
    );
  const never = only == null ? null : neverFound(list.validation_type, only);
  if (never !== null) say(never);
}

/** Null: it went to standard output. */
async function rowsOfWorkbook(out: string | undefined): Promise<number | null> {
  if (out === undefined) return null;
  const file = await readAddressFile(fileBytes(out), { headerRow: 1, columns: ['1'], form: 'xlsx' });
  let rows = 0;
  for await (const batch of file.batches) rows += batch.rows.length;
  return rows;
}

async function* fileBytes(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  const { handle } = await openInputFile(path, path);
  for await (const chunk of handle.createReadStream()) yield chunk;
}

/** Counts the rows of results that pass, without the header: line ends that are in no quoted cell. */
class RowCount {
  #lines = 0;
  #isQuoted = false;
  #decoder: InstanceType<typeof TextDecoder> | null = null;
  #head = 0;

  get rows(): number {
    return Math.max(0, this.#lines - this.#head);
  }

  of(format: ResultFormat) {
    this.#head = format === 'csv' ? 1 : 0;
    const count = (bytes: Uint8Array) => this.#count(bytes, format);
    return async function* (source: AsyncIterable<Uint8Array>) {
      for await (const bytes of source) {
        if (format !== 'xlsx') count(bytes);
        yield bytes;
      }
    };
  }

  #count(bytes: Uint8Array, format: ResultFormat): void {
    // Quotes and line ends are single bytes in every encoding but UTF-16, which has a mark.
    this.#decoder ??= new TextDecoder(utf16Charset(bytes) ?? 'latin1');
    for (const [character] of this.#decoder.decode(bytes, { stream: true }).matchAll(/["\n]/g))
      if (character === '"') this.#isQuoted = format === 'csv' && !this.#isQuoted;
      else if (!this.#isQuoted) this.#lines += 1;
  }
}

function utf16Charset([first, second]: Uint8Array): string | null {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : null;
}

const deleteListCommand = () =>
  command('delete', 'Erase a list with its rows and results.', 'lists')
    .argument('<id>')
    .action(async (id: string, flags: Common) => {
      await withLists(flags, async (lists) => {
        const removed = await lists.remove(id);
        printResult(flags, removed, removed.message);
      });
    });

/** Takes whatever the former command took, and says what its name is now. */
const moved = (name: string): Command =>
  new Command(name)
    .argument('[any...]')
    .allowUnknownOption()
    .action(() => {
      throw new UsageError(`this command is now mailvet disposable ${name}.`);
    });
