import { setMaxListeners } from 'node:events';
import { type Command, Option } from 'commander';
import type { Report, Verifier } from '../index.ts';
import { FILE_CONCURRENCY, LIST_RETRY_MINUTES, TIMEOUT_MS } from '../kernel/facts/limits.ts';
import { DEFAULT_DEDUPE, RESULT_FORMATS, type ResultFormat } from '../kernel/facts/lists.ts';
import { DEFAULT_LEVEL, type Level } from '../kernel/facts/plans.ts';
import type { Decision, Policy } from '../kernel/facts/policies.ts';
import type { Deliverability } from '../kernel/facts/reasons.ts';
import { counted } from '../kernel/format.ts';
import { command, optionsFrom, table, UsageError, wholeNumber } from './command.ts';
import { type LevelFlags, levelOf, withLevel } from './level.ts';
import { decidedBy, NO_VERDICT, noVerdict, verifyOrNull } from './no-verdict.ts';
import { policyNamed } from './policy.ts';
import { type ReadFlags, readChoice, withDedupe, withReadOptions } from './read-options.ts';
import { deliverabilities, formatByName, ONLY_HELP } from './result-rows.ts';
import { exitSoon, Terminated, Termination } from './termination.ts';

interface VerifyFlags extends ReadFlags, LevelFlags {
  json?: boolean;
  file?: string;
  out?: string;
  format?: ResultFormat;
  header?: keyof typeof HEADER_FLAG;
  only?: readonly Deliverability[];
  resume?: true;
  concurrency: number;
  timeoutMs?: number;
  policy?: string;
  evidence?: boolean;
  wait?: number | true;
}

/** Where `--wait` has no number. */
const WAIT_MINUTES = 15;
const HEADER_FLAG = { auto: null, true: 1, false: 0 } as const;

export const verifyCommand = (): Command =>
  withLevel(
    withDedupe(
      withReadOptions(
        command('verify', 'Verify addresses; needs no server or account and charges nothing.'),
        'with --file: ',
      ),
      'with --file: ',
    ).argument('[address...]'),
    `mx, or smtp, which also asks the mail servers (default: as the policy says, or ${DEFAULT_LEVEL})`,
  )
    .option('--file <file>', 'read the addresses from a file (CSV, XLSX, text, JSON) or, with -, from standard input')
    .option('--out <file>', 'with --file: where to write the results (default: standard output, -)')
    .addOption(
      new Option(
        '--format <format>',
        'with --file: format of the results (default: by the name of --out, or csv)',
      ).choices(RESULT_FORMATS),
    )
    .addOption(
      new Option('--header <mode>', 'with --file: true is --header-row 1, false is 0 (default: auto)').choices(
        Object.keys(HEADER_FLAG),
      ),
    )
    .option('--only <verdicts>', `with --file: write ${ONLY_HELP}`, deliverabilities)
    .option('--resume', 'with --out: continue an interrupted run')
    .option(
      '--concurrency <n>',
      'number of checks at once',
      wholeNumber('--concurrency', FILE_CONCURRENCY.min, FILE_CONCURRENCY.max),
      FILE_CONCURRENCY.default,
    )
    .option(
      '--timeout-ms <ms>',
      `time limit for one check (default: as the policy says, or ${TIMEOUT_MS.default})`,
      wholeNumber('--timeout-ms', TIMEOUT_MS.min, TIMEOUT_MS.max),
    )
    .option('--policy <name>', 'what to do with each address, as a policy says: a built-in one, or one of MAILVET_URL')
    .option(
      '--wait [minutes]',
      `with --level smtp: if a server asks for a delay, wait and retry, for at most ${counted(WAIT_MINUTES, 'minute')} or the number given`,
      wholeNumber('--wait', 1, LIST_RETRY_MINUTES.max),
    )
    .option('--evidence', 'with --json: add the mail hosts and the SMTP dialogue')
    .action(async (addresses: string[], flags: VerifyFlags) => {
      if (addresses.length === 0 && flags.file === undefined)
        throw new UsageError('give one or more addresses, or --file.');
      if (addresses.length > 0 && flags.file !== undefined) throw new UsageError('give addresses or --file, not both.');
      const format = formatOf(flags);
      const level = waitingLevelOf(flags);
      requireCompanions(format === 'jsonl' ? { ...flags, json: true } : flags);
      const signal = flags.file === undefined ? null : new Termination().signal;
      const [{ verifierFrom }, { verifyFile }] = await Promise.all([import('./engine.ts'), import('./verify-file.ts')]);
      const policy = flags.policy === undefined ? null : await policyNamed(flags.policy, flags);
      const verifier = await verifierFrom(optionsFrom(flags, 'verify'));
      const options = {
        level: level ?? policy?.level ?? DEFAULT_LEVEL,
        timeoutMs: flags.timeoutMs ?? policy?.timeoutMs ?? TIMEOUT_MS.default,
        evidence: flags.evidence ?? false,
        wait: (flags.wait === true ? WAIT_MINUTES : (flags.wait ?? 0)) * 60_000,
      };
      try {
        if (flags.file === undefined || signal === null) {
          const print = flags.json ? printLines : printTable;
          await print(resultsInOrder(verifier, addresses, options, flags.concurrency), policy);
          return;
        }
        // Every check listens to it.
        setMaxListeners(0, signal);
        const { file, out = '-', only = null, resume = false, header = 'auto', concurrency } = flags;
        const { dedupe = DEFAULT_DEDUPE } = flags;
        const summary = await verifyFile(verifier, {
          ...options,
          policy,
          file,
          out,
          format,
          only,
          dedupe,
          resume,
          concurrency,
          signal,
          read: readChoice({ ...headerOption(HEADER_FLAG[header]), ...flags }),
        });
        if (summary === null) return;
        process.stderr.write(`mailvet: ${summary}\n`);
        process.exitCode = signal.reason instanceof Terminated ? signal.reason.exitCode : 1;
        exitSoon();
      } finally {
        verifier.close();
      }
    });

const headerOption = (row: number | null) => (row === null ? {} : { headerRow: row });

/** Goes by `--format`, else by `--json`, else by the name of the output file. */
function formatOf({ format, json, out = '' }: VerifyFlags): ResultFormat {
  if (format !== undefined) return format;
  if (json) return 'jsonl';
  return formatByName(out) ?? 'csv';
}

/** Flags that have an effect only with another one. */
const COMPANIONS: readonly (readonly [flag: keyof VerifyFlags, needed: keyof VerifyFlags])[] = [
  ['out', 'file'],
  ['format', 'file'],
  ['columns', 'file'],
  ['column', 'file'],
  ['headerRow', 'file'],
  ['header', 'file'],
  ['delimiter', 'file'],
  ['encoding', 'file'],
  ['sheet', 'file'],
  ['entry', 'file'],
  ['dedupe', 'file'],
  ['only', 'file'],
  ['resume', 'out'],
  ['evidence', 'json'],
];

/** Undefined: the policy says, or the default. */
function waitingLevelOf({ wait, ...flags }: VerifyFlags): Level | undefined {
  const level = levelOf(flags);
  if (wait !== undefined && level !== 'smtp') throw new UsageError('--wait has no effect without --level smtp.');
  return level;
}

const dashed = (flag: string): string => flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function requireCompanions(flags: VerifyFlags): void {
  for (const [flag, needed] of COMPANIONS) {
    if (flags[flag] !== undefined && flags[needed] === undefined)
      throw new UsageError(`--${dashed(flag)} has no effect without --${needed}.`);
  }
}

type CheckOptions = Parameters<Verifier['verify']>[1];

interface AddressResult {
  readonly email: string;
  /** The result is null if no resolver answered. */
  readonly result: Report | null;
}

/** Yields results in the order of the addresses, with bounded concurrency. */
async function* resultsInOrder(
  verifier: Verifier,
  addresses: readonly string[],
  options: CheckOptions,
  concurrency: number,
): AsyncGenerator<AddressResult> {
  let missing = 0;
  for (let i = 0; i < addresses.length; i += concurrency) {
    const batch = addresses.slice(i, i + concurrency);
    const results = await Promise.all(batch.map((email) => verifyOrNull(verifier, email, options)));
    for (const [n, result] of results.entries()) {
      if (result === null) missing += 1;
      yield { email: batch[n]!, result };
    }
  }
  if (missing === 0) return;
  process.exitCode = 1;
  process.stderr.write(
    `mailvet: no verdict for ${missing === 1 ? 'one address' : `${missing} addresses`}: no DNS resolver gives usable answers. Check MAILVET_DNS_SERVERS; mailvet doctor says more.\n`,
  );
}

type AddressResults = AsyncGenerator<AddressResult>;

async function printLines(outcomes: AddressResults, policy: Policy | null): Promise<void> {
  for await (const { email, result } of outcomes)
    process.stdout.write(`${JSON.stringify({ ...(result ?? noVerdict(email)), ...decidedBy(policy, result) })}\n`);
}

async function printTable(outcomes: AddressResults, policy: Policy | null): Promise<void> {
  const rows: string[][] = [];
  for await (const { email, result: r } of outcomes) {
    const { decision } = decidedBy(policy, r);
    const decided = decision === undefined ? [] : [decisionText(decision)];
    if (r === null) {
      rows.push([email, '-', '-', NO_VERDICT, ...decided, '-']);
      continue;
    }
    const { provider, provider_kind: kind } = r.checks.mx;
    const notes = [
      r.did_you_mean && `did you mean ${r.did_you_mean}?`,
      r.checks.syntax.error,
      provider && (kind === 'mailbox' || kind == null ? provider : `${provider} (${kind})`),
      r.relay_provider && `relay: ${r.relay_provider}`,
    ];
    const noted = notes.filter(Boolean).join(', ') || '-';
    rows.push([r.email, r.status, r.deliverability, r.reason ?? '-', ...decided, noted]);
  }
  process.stdout.write(
    `${table(rows, ['ADDRESS', 'STATUS', 'DELIVERABILITY', 'REASON', ...(policy === null ? [] : ['DECISION']), 'NOTES'])}\n`,
  );
}

/** `reject (disposable, typo)` */
const decisionText = ({ action, because }: Decision): string =>
  because.length === 0 ? action : `${action} (${because.join(', ')})`;
