import type { Command } from 'commander';
import type { Report, Verifier } from '../index.ts';
import { command, optionsFrom, table, WrongUse, whole } from './command.ts';
import { UNANSWERED, unanswered, verdictOf } from './unanswered.ts';

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
  command('verify', 'Verify addresses without a server, an account or a charge.')
    .argument('[address...]')
    .option('--smtp', 'also ask the mail server')
    .option('--file <in.csv>', 'take the addresses from a CSV file')
    .option('--out <out.csv>', 'where the results go; - is standard output', '-')
    .option('--column <name>', 'the column of the file that holds the addresses; by default it is found')
    .option('--timeout-ms <ms>', 'the budget of one check', whole('--timeout-ms', 1000, 30_000), 10_000)
    .option(
      '--wait [minutes]',
      'with --smtp: where a server asks for patience, wait and ask again, at most 15 minutes or as many as given',
      whole('--wait', 1, 1440),
    )
    .option('--evidence', 'with --json: add what was seen and said')
    .action(async (addresses: string[], flags: Flags) => {
      if (addresses.length === 0 && flags.file === undefined)
        throw new WrongUse('give one or more addresses, or --file.');
      if (addresses.length > 0 && flags.file !== undefined) throw new WrongUse('give addresses or --file, not both.');
      const [{ verifierFrom }, { verifyFile }] = await Promise.all([import('./engine.ts'), import('./verify-file.ts')]);
      const verifier = verifierFrom(optionsFrom(flags, 'verify'));
      const ask = {
        level: flags.smtp ? ('smtp' as const) : ('mx' as const),
        timeoutMs: flags.timeoutMs,
        evidence: flags.evidence ?? false,
        wait: (flags.wait === true ? 15 : (flags.wait ?? 0)) * 60_000,
      };
      try {
        if (flags.file !== undefined)
          await verifyFile(verifier, { ...flags, ...ask, file: flags.file, out: flags.out ?? '-' });
        else if (flags.json) await printLines(verifier, addresses, ask);
        else await printTable(verifier, addresses, ask);
      } finally {
        verifier.close();
      }
    });

type Ask = Parameters<Verifier['verify']>[1];

const AT_ONCE = 50;
interface Asked {
  readonly email: string;
  /** Null when no resolver answered. */
  readonly result: Report | null;
}

/** Results in the order of the addresses, a bounded number of checks at once. An outage takes no verdict with it. */
async function* inOrder(verifier: Verifier, addresses: readonly string[], ask: Ask): AsyncGenerator<Asked> {
  let missing = 0;
  for (let i = 0; i < addresses.length; i += AT_ONCE) {
    const batch = addresses.slice(i, i + AT_ONCE);
    const results = await Promise.all(batch.map((email) => verdictOf(verifier, email, ask)));
    for (const [n, result] of results.entries()) {
      if (result === null) missing += 1;
      yield { email: batch[n]!, result };
    }
  }
  if (missing === 0) return;
  process.exitCode = 1;
  process.stderr.write(`mailvet: ${missing} without a verdict: no DNS resolver answers. Check MAILVET_DNS_SERVERS.\n`);
}

async function printLines(verifier: Verifier, addresses: readonly string[], ask: Ask): Promise<void> {
  for await (const { email, result } of inOrder(verifier, addresses, ask)) {
    process.stdout.write(`${JSON.stringify(result ?? unanswered(email))}\n`);
  }
}

async function printTable(verifier: Verifier, addresses: readonly string[], ask: Ask): Promise<void> {
  const rows: string[][] = [];
  for await (const { email, result: r } of inOrder(verifier, addresses, ask)) {
    if (r === null) {
      rows.push([email, '-', '-', UNANSWERED, '-']);
      continue;
    }
    const notes = [r.did_you_mean && `did you mean ${r.did_you_mean}?`, r.checks.syntax.error, r.checks.mx.provider];
    rows.push([r.email, r.status, r.deliverability, r.reason ?? '-', notes.filter(Boolean).join(', ') || '-']);
  }
  process.stdout.write(`${table(rows, ['ADDRESS', 'STATUS', 'DELIVERABILITY', 'REASON', 'NOTES'])}\n`);
}
