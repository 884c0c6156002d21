/** The engine alone, on one core: warm against its own parser, cold against raw queries to the same DNS server. */
import { parseAddress } from '../src/engine/address/parse.ts';
import { decideVerdict } from '../src/engine/findings.ts';
import { report } from '../src/engine/report.ts';
import { type EngineDeps, runFromCache, runOffline, runOnline } from '../src/engine/verify.ts';
import { startPartner } from './apparatus/children.ts';
import { AT_ONCE, coldNames, perSecond, TIMEOUT_MS, toolsFor } from './apparatus/cold-names.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
import { startNameServer } from './apparatus/name-server.ts';
import { emails, ZONE } from './apparatus/names.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';

const WARM_ROUNDS = 11;
/** Addresses per sample. */
const WARM = 40_000;
const COLD_ROUNDS = 7;
const COLD = 4_000;
/** Rounds until the code of both is compiled and the resolver's memory has its size. */
const COLD_WARM_UP_ROUNDS = 6;
const COLD_AIM = 0.4;

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
  const { resolve, raw, close } = coldNames(port, COLD);
  await interleave(COLD_WARM_UP_ROUNDS, { resolve, raw });
  const samples = await interleave(COLD_ROUNDS, { resolve, raw });
  await close();
  const value = medianRatio(samples.resolve, samples.raw);
  return {
    what: 'Cold: addresses per second, each at a new domain',
    value: number(median(samples.resolve)),
    floor: number(median(samples.raw)),
    ratio: ratio(value),
    aim: { text: `≥ ${COLD_AIM}`, met: value >= COLD_AIM },
  };
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
        `a wildcard of ${server} on loopback, ${AT_ONCE} at once, after ${COLD_WARM_UP_ROUNDS} rounds of warm-up; the ` +
        'floor is one MX query for each with dns-packet and one UDP socket, without retries, checks or cache.',
      figures: [warmed, chilled],
    };
  },
};
