import type { Command } from 'commander';
import type { Report, Verifier } from '../index.ts';
import { TIMEOUT_MS } from '../kernel/limits.ts';
import { command, optionsFrom, table, UsageError, wholeNumber } from './command.ts';
import { NO_VERDICT, noVerdict, verifyOrNull } from './no-verdict.ts';

interface Flags {
  json?: boolean;
  smtp?: boolean;
  file?: string;
  out?: string;
  column?: string;
  timeoutMs: number;
  evidence?: boolean;
  wait?: number | true;
}

export const verifyCommand = (): Command =>
  command('verify', 'Verify addresses; needs no server or account and charges nothing.')
    .argument('[address...]')
    .option('--smtp', 'also ask the mail servers')
    .option('--file <in.csv>', 'read the addresses from a CSV file')
    .option('--out <out.csv>', 'with --file: where to write the results (default: standard output, -)')
    .option('--column <name>', 'with --file: column with the addresses (default: detected)')
    .option(
      '--timeout-ms <ms>',
      'time limit for one check',
      wholeNumber('--timeout-ms', TIMEOUT_MS.min, TIMEOUT_MS.max),
      TIMEOUT_MS.default,
    )
    .option(
      '--wait [minutes]',
      'with --smtp: if a server asks for a delay, wait and retry, for at most 15 minutes or the number given',
      wholeNumber('--wait', 1, 1440),
    )
    .option('--evidence', 'with --json: add the mail hosts and the SMTP dialogue')
    .action(async (addresses: string[], flags: Flags) => {
      if (addresses.length === 0 && flags.file === undefined)
        throw new UsageError('give one or more addresses, or --file.');
      if (addresses.length > 0 && flags.file !== undefined) throw new UsageError('give addresses or --file, not both.');
      requireCompanions(flags);
      const [{ verifierFrom }, { verifyFile }] = await Promise.all([import('./engine.ts'), import('./verify-file.ts')]);
      const verifier = verifierFrom(optionsFrom(flags, 'verify'));
      const options = {
        level: flags.smtp ? ('smtp' as const) : ('mx' as const),
        timeoutMs: flags.timeoutMs,
        evidence: flags.evidence ?? false,
        wait: (flags.wait === true ? 15 : (flags.wait ?? 0)) * 60_000,
      };
      try {
        if (flags.file !== undefined)
          await verifyFile(verifier, { ...flags, ...options, file: flags.file, out: flags.out ?? '-' });
        else if (flags.json) await printLines(verifier, addresses, options);
        else await printTable(verifier, addresses, options);
      } finally {
        verifier.close();
      }
    });

/** Flags that have an effect only with another one. */
const COMPANIONS: readonly (readonly [flag: keyof Flags, needed: keyof Flags])[] = [
  ['out', 'file'],
  ['column', 'file'],
  ['wait', 'smtp'],
  ['evidence', 'json'],
];

function requireCompanions(flags: Flags): void {
  for (const [flag, needed] of COMPANIONS) {
    if (flags[flag] !== undefined && flags[needed] === undefined)
      throw new UsageError(`--${flag} has no effect without --${needed}.`);
  }
}

type CheckOptions = Parameters<Verifier['verify']>[1];

const CONCURRENCY = 50;
interface Outcome {
  readonly email: string;
  /** Null if no resolver answered. */
  readonly result: Report | null;
}

/** Results in the order of the addresses, with bounded concurrency. */
async function* inOrder(
  verifier: Verifier,
  addresses: readonly string[],
  options: CheckOptions,
): AsyncGenerator<Outcome> {
  let missing = 0;
  for (let i = 0; i < addresses.length; i += CONCURRENCY) {
    const batch = addresses.slice(i, i + CONCURRENCY);
    const results = await Promise.all(batch.map((email) => verifyOrNull(verifier, email, options)));
    for (const [n, result] of results.entries()) {
      if (result === null) missing += 1;
      yield { email: batch[n]!, result };
    }
  }
  if (missing === 0) return;
  process.exitCode = 1;
  process.stderr.write(
    `mailvet: no verdict for ${missing} addresses: no DNS resolver gives usable answers. Check MAILVET_DNS_SERVERS; mailvet doctor says more.\n`,
  );
}

async function printLines(verifier: Verifier, addresses: readonly string[], options: CheckOptions): Promise<void> {
  for await (const { email, result } of inOrder(verifier, addresses, options)) {
    process.stdout.write(`${JSON.stringify(result ?? noVerdict(email))}\n`);
  }
}

async function printTable(verifier: Verifier, addresses: readonly string[], options: CheckOptions): Promise<void> {
  const rows: string[][] = [];
  for await (const { email, result: r } of inOrder(verifier, addresses, options)) {
    if (r === null) {
      rows.push([email, '-', '-', NO_VERDICT, '-']);
      continue;
    }
    const notes = [r.did_you_mean && `did you mean ${r.did_you_mean}?`, r.checks.syntax.error, r.checks.mx.provider];
    rows.push([r.email, r.status, r.deliverability, r.reason ?? '-', notes.filter(Boolean).join(', ') || '-']);
  }
  process.stdout.write(`${table(rows, ['ADDRESS', 'STATUS', 'DELIVERABILITY', 'REASON', 'NOTES'])}\n`);
}
