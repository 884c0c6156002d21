/** The engine alone, on one core: warm against its own parser, cold against raw queries to the same DNS server. */

import { parseAddress } from '../src/engine/address/parse.ts';
import { createEngine, type VerificationEngine } from '../src/engine/create.ts';
import { decideVerdict } from '../src/engine/decide-verdict.ts';
import { loadLists } from '../src/engine/lists/lists.ts';
import { report } from '../src/engine/report.ts';
import { type EngineDeps, runFromCache, runOffline, runOnline } from '../src/engine/verify.ts';
import { startPartner } from './apparatus/children.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
import { startNameServer } from './apparatus/name-server.ts';
import { emails, WILDCARD, ZONE } from './apparatus/names.ts';
import { rawQuestions } from './apparatus/raw-dns.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';

const WARM_ROUNDS = 11;
/** Addresses per sample. */
const WARM = 40_000;
const COLD_ROUNDS = 7;
const COLD = 4_000;
/** Concurrent queries. */
const AT_ONCE = 64;
const TIMEOUT_MS = 10_000;
const COLD_AIM = 0.4;

const perSecond = (n: number, began: number): number => (n * 1000) / (performance.now() - began);

const toolsFor = (port: number, lists = loadLists()): VerificationEngine =>
  createEngine({
    dnsServers: [{ address: '127.0.0.1', port }],
    // NSD refuses names outside of its zone.
    dnsControlNames: [`control.${WILDCARD}`],
    lists: () => lists,
    smtp: null,
  });

/** The service's work for one address between admission and reply, including JSON. */
function verifyNow(email: string, tools: EngineDeps): string {
  const evidence = runFromCache(runOffline(email, 'mx', tools), tools);
  const verdict = evidence && decideVerdict(evidence);
  if (!evidence || !verdict) throw new Error(`${email} has no verdict without waiting`);
  return JSON.stringify(report(evidence, verdict, { id: 'ver_0', durationMs: 0, at: 0 }));
}

async function warm(port: number): Promise<Figure> {
  const tools = toolsFor(port);
  const addresses = emails(4096);
  for (const email of addresses)
    await runOnline(runOffline(email, 'mx', tools), { timeoutMs: TIMEOUT_MS, tenant: '' }, tools);
  const through = (one: (email: string) => unknown) => () => {
    const began = performance.now();
    for (let i = 0; i < WARM; i++) one(addresses[i % addresses.length]!);
    return perSecond(WARM, began);
  };
  const contestants = {
    engine: through((email) => verifyNow(email, tools)),
    floor: through((email) => parseAddress(email)),
  };
  await interleave(1, contestants);
  const { engine, floor } = await interleave(WARM_ROUNDS, contestants);
  await tools.close();
  return {
    what: 'Warm: addresses per second (syntax, lists, cached DNS, verdict, JSON)',
    value: number(median(engine)),
    floor: number(median(floor)),
    ratio: ratio(medianRatio(engine, floor)),
  };
}

async function cold(port: number): Promise<Figure> {
  const tools = toolsFor(port);
  let asked = 0;
  /** Names not queried before. */
  const fresh = () => Array.from({ length: COLD }, () => `n${asked++}.${WILDCARD}`);
  const engine = async () => {
    const names = fresh();
    const began = performance.now();
    await eachAtOnce(names, async (name) => {
      const evidence = await runOnline(
        runOffline(`jane@${name}`, 'mx', tools),
        { timeoutMs: TIMEOUT_MS, tenant: '' },
        tools,
      );
      if (evidence.dns?.finding !== 'mx') throw new Error(`${name}: ${evidence.dns?.finding}`);
      const verdict = decideVerdict(evidence);
      if (verdict) report(evidence, verdict, { id: 'ver_0', durationMs: 0, at: 0 });
    });
    return perSecond(COLD, began);
  };
  const floor = async () => {
    const names = fresh();
    const began = performance.now();
    await rawQuestions(port, names, AT_ONCE);
    return perSecond(COLD, began);
  };
  await interleave(1, { engine, floor });
  const samples = await interleave(COLD_ROUNDS, { engine, floor });
  await tools.close();
  const value = medianRatio(samples.engine, samples.floor);
  return {
    what: 'Cold: addresses per second, each at a new domain',
    value: number(median(samples.engine)),
    floor: number(median(samples.floor)),
    ratio: ratio(value),
    aim: { text: `≥ ${COLD_AIM}`, met: value >= COLD_AIM },
  };
}

async function eachAtOnce(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < names.length) await work(names[next++]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

export const engine: Bench = {
  name: 'engine',
  title: 'Engine',
  async run() {
    const dns = await startPartner('dns-process.ts');
    const port = await dns.ask<number>(ZONE);
    const warmed = await warm(port);
    const nsd = await startNameServer();
    const chilled = await cold(nsd?.port ?? port);
    await nsd?.stop();
    await dns.end();
    const server = nsd === null ? "the laboratory's DNS server (NSD is not installed)" : 'NSD';
    return {
      how:
        `One process, one thread. Warm: ${WARM_ROUNDS} rounds of ${WARM.toLocaleString('en-US')} addresses over 64 ` +
        `domains; the floor is parsing them. Cold: ${COLD_ROUNDS} rounds of ${COLD.toLocaleString('en-US')} names under ` +
        `a wildcard of ${server} on loopback, ${AT_ONCE} at once; the floor is one MX query for each with dns-packet ` +
        'and one UDP socket, without retries, checks or cache.',
      figures: [warmed, chilled],
    };
  },
};
