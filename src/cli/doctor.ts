import type { Command } from 'commander';
import { smtpIdentityOf } from '../config/egress.ts';
import { httpsProxy, type Options, publicUrlOf } from '../config/read.ts';
import { parseAddress } from '../engine/address/parse.ts';
import { watchDomainData } from '../engine/data/domain-data.ts';
import { systemClock } from '../kernel/clock.ts';
import type { EgressAdvice, EgressFinding, examineSurroundings } from '../service/doctor.ts';
import {
  command,
  missingFile,
  openConfiguredStore,
  optionsFrom,
  printable,
  printResult,
  UsageError,
} from './command.ts';

export const doctorCommand = (): Command =>
  command('doctor', 'Check whether this host is fit to talk to mail servers; prints one line per finding.')
    .option('--mail-to <address>', 'send one mail there through MAILVET_MAIL_URL', mailTo)
    .action(async (flags: { json?: boolean; mailTo?: string }) => {
      const options = optionsFrom(flags, 'doctor');
      const { examine, examineSurroundings, isFit } = await import('../service/doctor.ts');
      const providers = () => watchDomainData(options.listsDir, systemClock).current.providerNames;
      const { egresses = [] } = (await smtpIdentityOf(options, providers)) ?? {};
      const { findings: ofHost, advice } = await examine({ ...options, egresses: () => egresses }, () =>
        openAndCheckStore(options),
      );
      // Not at once: the system looks names up in few threads, which a name without an answer holds for seconds.
      const around = await examineSurroundings(surroundingsOf(options, flags.mailTo ?? null));
      const findings = [...ofHost, ...around];
      const ok = isFit(findings);
      printResult(flags, { findings, advice, ok }, [...findingLines(findings), ...adviceLines(advice)].join('\n'));
      if (!ok) process.exitCode = 1;
    });

function mailTo(text: string): string {
  if (parseAddress(text, { allowReserved: true, allowUnknownTld: true }).ok) return text;
  throw new UsageError(`--mail-to must be an email address; it is ${JSON.stringify(text.slice(0, 100))}.`);
}

function surroundingsOf(options: Options, to: string | null): Parameters<typeof examineSurroundings>[0] {
  const { publicUrl, host, port, mailUrl, mailFrom: from } = options;
  return {
    ...options,
    publicUrl: publicUrl === publicUrlOf(host, port) ? null : publicUrl,
    httpsProxy: httpsProxy(),
    mail: mailUrl === null ? null : { server: mailUrl, from, url: publicUrl },
    mailTo: to,
  };
}

/** `fail  port        …`: what was found and how to fix it. */
function findingLines(findings: readonly EgressFinding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const isOne = new Set(findings.map(({ egress }) => egress)).size < 3;
  return findings.map(({ check, result, found, fix, egress }) => {
    const text = fix === null ? found : `${found} ${fix}`;
    return `${result}  ${check.padEnd(width)}  ${isOne || egress === null ? '' : `${egress}: `}${printable(text)}`;
  });
}

/** What to fix first, for each egress where there is something. */
function adviceLines(advice: readonly EgressAdvice[]): string[] {
  const of = (egress: string) => (advice.length === 1 ? 'Fix first' : `Fix first at ${egress}`);
  const lines = advice.flatMap(({ egress, first }) =>
    first === null ? [] : `${of(egress)}, for the most answers: ${printable(first.fix)}`,
  );
  return lines.length === 0 ? [] : ['', ...lines];
}

async function openAndCheckStore(options: Options): ReturnType<typeof import('../service/doctor.ts').checkStore> {
  const missing = await missingFile(options.databaseUrl);
  if (missing !== null) return { notReady: `There is no store at ${missing}.` };
  const [store, { checkStore }] = await Promise.all([openConfiguredStore(options), import('../service/doctor.ts')]);
  try {
    return await checkStore(store);
  } finally {
    await store.close();
  }
}
