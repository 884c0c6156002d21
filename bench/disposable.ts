/** The cost of a look-up in the disposable list against a bare Set.has of the same names; and of loading the list. */
import { allEntries } from '../src/engine/data/disposable-file.ts';
import { loadDomainData, packagedDir, readDisposable } from '../src/engine/data/domain-data.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
import { DOMAINS } from './apparatus/names.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';

const ROUNDS = 9;
const LOADS = 5;
/** Look-ups per sample. */
const ASKED = 400_000;

const nanoseconds = (names: readonly string[], ask: (name: string) => unknown): number => {
  let found = 0;
  const began = performance.now();
  for (let i = 0; i < ASKED; i++) if (ask(names[i % names.length]!)) found += 1;
  const spent = performance.now() - began;
  if (found < 0) throw new Error('unreachable; keeps the loop from being optimized away');
  return (spent * 1e6) / ASKED;
};

export const disposable: Bench = {
  name: 'disposable',
  title: 'Disposable lists',
  async run() {
    const file = readDisposable(packagedDir());
    const verdict = [...allEntries(file).keys()].filter(file.verdict.has);
    const bare = new Set(verdict);
    const listed = verdict.filter((_, i) => i % 37 === 0).slice(0, 4096);
    const unlisted = [...DOMAINS, ...Array.from({ length: 4032 }, (_, i) => `mail.company-${i}.co.uk`)];
    const loaded = loadDomainData();
    const figures: Figure[] = [];
    for (const [what, names] of [
      ['a listed domain', listed],
      ['a domain that is not listed', unlisted],
    ] as const) {
      const samples = await interleave(ROUNDS, {
        ours: () => nanoseconds(names, (name) => loaded.disposable(name).verdict === 'disposable'),
        floor: () => nanoseconds(names, (name) => bare.has(name)),
      });
      figures.push({
        what: `Lookup of ${what}`,
        value: `${number(median(samples.ours))} ns`,
        floor: `${number(median(samples.floor))} ns`,
        ratio: ratio(medianRatio(samples.ours, samples.floor)),
      });
    }
    const loads = await interleave(LOADS, {
      ours: () => milliseconds(() => loadDomainData()),
      floor: () => milliseconds(() => new Set([...bare].join('\n').split('\n'))),
    });
    figures.push({
      what: `Loading all lists (${loaded.size.toLocaleString('en-US')} disposable domains)`,
      value: `${number(median(loads.ours))} ms`,
      floor: `${number(median(loads.floor))} ms`,
      ratio: ratio(medianRatio(loads.ours, loads.floor)),
    });
    return {
      how:
        'The disposable lookup (allowlist, relays, verdict and suspicion tiers, parents up to the registrable domain) ' +
        `relative to one Set.has; ${ROUNDS} rounds of ${ASKED.toLocaleString('en-US')} over 4,096 names, so that ` +
        `nearly all results come from the cache. Loading, relative to splitting the same ` +
        `names at line ends into a Set; ${LOADS} rounds.`,
      figures,
    };
  },
};

function milliseconds(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}
