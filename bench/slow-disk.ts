/** A disk whose flush takes 10 ms: what waits for it, and whether other requests do. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { posts, startLoader } from './apparatus/load.ts';
import { median } from './apparatus/measure.ts';
import { DOMAINS, emails } from './apparatus/names.ts';
import { type Bench, type Figure, number } from './apparatus/results.ts';
import { ensureBuilt, prepareGround, SERVE, startService, verifyOnce } from './apparatus/service.ts';

const SOURCE = fileURLToPath(new URL('apparatus/slow-disk.c', import.meta.url));
const CONNECTIONS = 32;
const SECONDS = 6;
const PROBE_EVERY_MS = 5;
const AIM = { addedMs: 1.5, perSecond: 2_000 };

/** The shim, or null without a C compiler. */
function compile(folder: string): string | null {
  const library = join(folder, 'slow-disk.so');
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, SOURCE], { stdio: 'pipe' });
    return library;
  } catch {
    return null;
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Times of /healthz over one connection, ms, until `over`. */
async function probe(port: number, over: Promise<unknown>): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const once = () =>
    new Promise<number>((resolve, reject) => {
      const began = performance.now();
      get({ host: '127.0.0.1', port, path: '/healthz', agent }, (reply) => {
        reply.resume().once('end', () => resolve(performance.now() - began));
      }).once('error', reject);
    });
  let ended = false;
  const end = () => {
    ended = true;
  };
  over.then(end, end);
  const times: number[] = [];
  while (!ended) {
    times.push(await once());
    await pause(PROBE_EVERY_MS);
  }
  agent.destroy();
  return times;
}

async function measure(library: string): Promise<Figure[]> {
  ensureBuilt();
  const ground = await prepareGround();
  const { key } = await ground.account();
  const service = await startService(ground, SERVE, { LD_PRELOAD: library });
  for (const domain of DOMAINS) await verifyOnce(service.port, key, `jane.doe1@${domain}`);
  const loader = await startLoader();
  const bodies = emails(2048).map((email) => ({ email }));
  const load = { port: service.port, connections: CONNECTIONS, requests: posts('/v1/verify', key, bodies) };
  await loader.run(service.pid, { ...load, seconds: SECONDS });
  const idle = median(await probe(service.port, pause(SECONDS * 1000)));
  const running = loader.run(service.pid, { ...load, seconds: SECONDS });
  const busy = median(await probe(service.port, running));
  const { perSecond, p50, p99 } = await running;
  await loader.end();
  await service.stop();
  await ground.clear();
  const ms = (value: number) => `${number(value)} ms`;
  const added = { text: `≤ idle + ${AIM.addedMs} ms`, met: busy <= idle + AIM.addedMs };
  const enough = { text: `≥ ${number(AIM.perSecond)}`, met: perSecond >= AIM.perSecond };
  return [
    { what: '/healthz idle, median', value: ms(idle) },
    { what: '/healthz under load, median', value: ms(busy), aim: added },
    { what: 'Verifications per second', value: number(perSecond), aim: enough },
    { what: 'Verification, median', value: ms(p50) },
    { what: 'Verification, 99th percentile', value: ms(p99) },
  ];
}

export const slowDisk: Bench = {
  name: 'slow-disk',
  title: 'Slow disk',
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'mailvet-slow-disk-'));
    try {
      const library = compile(folder);
      return {
        how:
          'SQLite on a disk whose flush takes 10 ms longer, by a preloaded library built with the C compiler; POST ' +
          `/v1/verify at the mx level over ${CONNECTIONS} connections for ${SECONDS} s, and /healthz over another one.`,
        figures: library === null ? [] : await measure(library),
        leftOut: library === null ? ['all of it, because there is no C compiler (cc) here.'] : [],
      };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};
