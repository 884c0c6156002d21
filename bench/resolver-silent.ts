/** Time to the result when the resolver does not respond at all. */
import { createSocket } from 'node:dgram';
import { Resolver as NodeResolver } from 'node:dns/promises';
import { once } from 'node:events';
import { lookUpMailServers, runLookup } from '../src/engine/dns/mx-lookup.ts';
import { createResolver } from '../src/engine/dns/resolver.ts';

import { systemClock } from '../src/kernel/clock.ts';
import type { Bench, Finding } from './apparatus/results.ts';
import { number } from './apparatus/results.ts';

const DOMAINS = 500;
const AIM_MS = 5000;
/** The caller's limit, longer than the stage may take. */
const BUDGET_MS = 30_000;
/** Limit for the floor. */
const FLOOR_MS = 12_000;
const TRY_MS = 2000;

async function timed(names: readonly string[], ask: (name: string) => Promise<unknown>): Promise<number[]> {
  const times = names.map(async (name) => {
    const began = performance.now();
    await ask(name);
    return performance.now() - began;
  });
  return (await Promise.all(times)).toSorted((a, b) => a - b);
}

export const silentResolver: Bench = {
  name: 'resolver-silent',
  title: 'Silent resolver',
  async run(): Promise<Finding> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const { port } = socket.address();
    const names = Array.from({ length: DOMAINS }, (_, i) => `d${i}.silent.test`);
    const resolver = createResolver({
      servers: [{ address: '127.0.0.1', port }],
      timeoutMs: TRY_MS,
      clock: systemClock,
    });
    const tools = {
      hostsWanted: 3,
      random: () => 0,
      allowPrivate: false,
      own: new Set<string>(),
      domainData: { provider: () => null },
    };
    const bare = new NodeResolver();
    bare.setServers([`127.0.0.1:${port}`]);
    const capped = timed(names, (name) => {
      let late: NodeJS.Timeout;
      const limit = new Promise<void>((resolve) => {
        late = setTimeout(resolve, FLOOR_MS);
      });
      return Promise.race([bare.resolveMx(name).catch(() => {}), limit]).finally(() => clearTimeout(late));
    });
    const times = await timed(names, async (domain) => {
      const deadlineMs = systemClock.elapsed() + BUDGET_MS;
      const { finding } = await runLookup(lookUpMailServers(domain, tools), resolver, {
        deadlineMs,
        clock: systemClock,
      });
      if (finding !== 'resolver_unavailable') throw new Error(`${domain}: ${finding}`);
    });
    const floor = await capped;
    resolver.close();
    bare.cancel();
    socket.close();
    const at = (sorted: readonly number[], share: number): number => sorted[Math.floor(sorted.length * share)]!;
    const seconds = (ms: number) => (ms >= FLOOR_MS ? `over ${FLOOR_MS / 1000} s` : `${number(ms / 1000)} s`);
    return {
      how:
        `The dns stage for ${DOMAINS} domains at once; the only server receives every query and answers none. The floor ` +
        `is resolveMx of node:dns with its defaults, limited to ${FLOOR_MS / 1000} s. Every finding is resolver_unavailable.`,
      figures: [
        { what: 'Time to the result, p50', value: seconds(at(times, 0.5)), floor: seconds(at(floor, 0.5)) },
        {
          what: 'Time to the result, p99',
          value: seconds(at(times, 0.99)),
          floor: seconds(at(floor, 0.99)),
          aim: { text: `≤ ${AIM_MS / 1000} s`, met: at(times, 0.99) <= AIM_MS },
        },
      ],
    };
  },
};
