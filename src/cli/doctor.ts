import type { Command } from 'commander';
import { askerOf, type Options } from '../config/read.ts';
import type { Finding } from '../service/doctor.ts';
import { command, openedStore, optionsFrom, printable, say } from './command.ts';

export const doctorCommand = (): Command =>
  command('doctor', "Is this host fit to ask other people's mail servers? One line for each finding.").action(
    async (flags: { json?: boolean }) => {
      const options = optionsFrom(flags, 'doctor');
      const { examine, isFit } = await import('../service/doctor.ts');
      const findings = await examine({ ...options, asker: askerOf(options) }, () => tryOwnStore(options));
      const ok = isFit(findings);
      say(flags, { findings, ok }, linesOf(findings));
      if (!ok) process.exitCode = 1;
    },
  );

/** `fail  port        …`: what was found, and then what to do. */
function linesOf(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .map(({ check, result, found, fix }) => {
      const sentences = fix === null ? found : `${found} ${fix}`;
      return `${result}  ${check.padEnd(width)}  ${printable(sentences)}`;
    })
    .join('\n');
}

async function tryOwnStore(options: Options): Promise<string> {
  const [store, { tryStore }] = await Promise.all([openedStore(options), import('../service/doctor.ts')]);
  try {
    return await tryStore(store);
  } finally {
    await store.close();
  }
}
