/** Reading of reports about sent mail: hostile messages of 1 MiB, each in a process of its own for its memory. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readMailReport } from '../src/files/mail-report.ts';
import { HOSTILE_REPORTS, SAMPLE_REPORTS } from '../tests/lab/mail-reports.ts';
import { interleave, median } from './apparatus/measure.ts';
import type { Bench } from './apparatus/results.ts';

const ROUNDS = 15;
const AIM_MS = 50;
const AIM_MIB = 16;
const MIB = 2 ** 20;

const cpuMs = async (work: () => unknown): Promise<number> => {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
};

/** The growth of the resident memory at its peak, MiB, in a process that reads an ordinary report before. */
const CHILD = `
import { readFileSync, writeFileSync } from 'node:fs';
import { readMailReport } from ${JSON.stringify(fileURLToPath(new URL('../src/files/mail-report.ts', import.meta.url)))};
import { HOSTILE_REPORTS, SAMPLE_REPORTS } from ${JSON.stringify(fileURLToPath(new URL('../tests/lab/mail-reports.ts', import.meta.url)))};
const raw = HOSTILE_REPORTS[process.argv[1]]();
for (let i = 0; i < 20; i++) await readMailReport(SAMPLE_REPORTS[0].raw);
globalThis.gc();
// proc(5): forgets the peak so far.
writeFileSync('/proc/self/clear_refs', '5');
const peak = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
const before = peak();
await readMailReport(raw);
console.log(peak() - before);
`;
const peakMiB = (name: string): number =>
  Number(
    execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', CHILD, name], { encoding: 'utf8' }),
  );

export const mailReports: Bench = {
  name: 'mail-reports',
  title: 'Reading of reports about sent mail',
  async run() {
    const hostile = Object.entries(HOSTILE_REPORTS).map(([name, make]) => ({ name, raw: make() }));
    const whole = Buffer.alloc(MIB, 'x');
    const contestants: Record<string, () => Promise<number>> = {
      ...Object.fromEntries(hostile.map(({ name, raw }) => [name, () => cpuMs(() => readMailReport(raw))])),
      floor: () => cpuMs(() => new TextDecoder().decode(whole).split('\n')),
      ordinary: () =>
        cpuMs(async () => {
          for (const { raw } of SAMPLE_REPORTS) await readMailReport(raw);
        }),
    };
    await interleave(3, contestants);
    const samples = await interleave(ROUNDS, contestants);
    const of = (name: string): number => median(samples[name] ?? []);
    const floor = `${of('floor').toFixed(1)} ms`;
    return {
      how: `CPU time to read hostile messages of at most 1 MiB, ${ROUNDS} interleaved rounds; floor: decoding 1 MiB and splitting it into lines. Memory: how much the peak of a process grows that has read ordinary reports before.`,
      figures: [
        {
          what: `an ordinary report, of ${SAMPLE_REPORTS.length}`,
          value: `${(of('ordinary') / SAMPLE_REPORTS.length).toFixed(2)} ms`,
          floor,
        },
        ...hostile.map(({ name }) => {
          const typical = of(name);
          const peak = peakMiB(name);
          return {
            what: name,
            value: `${typical.toFixed(1)} ms, ${peak.toFixed(1)} MiB`,
            floor,
            aim: { text: `at most ${AIM_MS} ms and ${AIM_MIB} MiB`, met: typical <= AIM_MS && peak <= AIM_MIB },
          };
        }),
      ],
    };
  },
};
