/**
 * Addresses at names that were never asked about: the engine in this process, and bare questions to the same server.
 */
import { createEngine, type VerificationEngine } from '../../src/engine/create.ts';
import { loadDomainData } from '../../src/engine/data/domain-data.ts';
import { decideVerdict } from '../../src/engine/findings.ts';
import { report } from '../../src/engine/report.ts';
import { runOffline, runOnline } from '../../src/engine/verify.ts';
import { WILDCARD } from './names.ts';
import { rawQuestions } from './raw-dns.ts';

/** Concurrent queries. */
export const AT_ONCE = 64;
export const TIMEOUT_MS = 10_000;

export const perSecond = (n: number, began: number): number => (n * 1000) / (performance.now() - began);

export const toolsFor = (port: number, lists = loadDomainData()): VerificationEngine =>
  createEngine({
    dnsServers: [{ address: '127.0.0.1', port }],
    // NSD refuses names outside of its zone.
    dnsControlNames: [`control.${WILDCARD}`],
    domainData: () => lists,
    smtp: null,
  });

/**
 * `count`: names per sample. `resolve` and `raw` return addresses per second, from DNS to the verdict, or to the reply
 * alone.
 */
export function coldNames(port: number, count: number) {
  const tools = toolsFor(port);
  let asked = 0;
  const fresh = (): string[] => Array.from({ length: count }, () => `n${asked++}.${WILDCARD}`);
  return {
    fresh,
    async resolve(): Promise<number> {
      const names = fresh();
      const began = performance.now();
      await eachAtOnce(names, async (name) => {
        const limit = { timeoutMs: TIMEOUT_MS, tenant: '' };
        const evidence = await runOnline(runOffline(`jane@${name}`, 'mx', tools), limit, tools);
        if (evidence.dns?.finding !== 'mx') throw new Error(`${name}: ${evidence.dns?.finding}`);
        const verdict = decideVerdict(evidence);
        if (verdict) report(evidence, verdict, { id: 'ver_0', durationMs: 0, at: 0 });
      });
      return perSecond(count, began);
    },
    async raw(): Promise<number> {
      const names = fresh();
      const began = performance.now();
      await rawQuestions(port, names, AT_ONCE);
      return perSecond(count, began);
    },
    close: () => tools.close(),
  };
}

async function eachAtOnce(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < names.length) await work(names[next++]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
