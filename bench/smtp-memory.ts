/** Memory of one slow dialogue, in clear and with TLS. */
import { readFileSync } from 'node:fs';
import { startPartner } from './apparatus/children.ts';
import { type Bench, type Figure, type Finding, number, ratio } from './apparatus/results.ts';
import type { SlowServer } from './apparatus/slow-server.ts';
import type { Held, Waiting } from './apparatus/waiting-process.ts';

const MOST = 5000;
const FEWER = 2000;
/** File descriptors of a process besides its sockets. */
const SPARE = 200;
const WARM = 1000;
const SETTLE_MS = 1000;
/** Limit for all TLS handshakes. */
const WAIT_MAX_MS = 90_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** KB (10^3 octets) per dialogue: RSS, and heap including external memory. */
async function measure(who: 'check' | 'raw', tls: boolean, count: number): Promise<Held> {
  const server = await startPartner('slow-server.ts');
  const port = await server.ask<number>({
    is: 'listen',
    address: '127.0.0.3',
    port: 0,
    how: 'wait',
  } satisfies SlowServer);
  const prober = await startPartner('waiting-process.ts');
  const open = async (n: number, total: number): Promise<Held> => {
    await prober.ask({ is: 'open', who, port, tls, count: n } satisfies Waiting);
    const until = performance.now() + WAIT_MAX_MS;
    while ((await server.ask<number>({ is: 'waiting' })) < total) {
      if (performance.now() > until) throw new Error(`fewer than ${total} dialogues are open after ${WAIT_MAX_MS} ms`);
      await pause(50);
    }
    await pause(SETTLE_MS);
    return prober.ask<Held>({ is: 'measure' });
  };
  const before = await open(WARM, WARM);
  const after = await open(count - WARM, count);
  await prober.end();
  await server.end();
  const each = (a: number, b: number) => (a - b) / (count - WARM) / 1000;
  return { resident: each(after.resident, before.resident), heap: each(after.heap, before.heap) };
}

export const smtpMemory: Bench = {
  name: 'smtp-memory',
  title: 'Memory of SMTP dialogues',
  async run(): Promise<Finding> {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    const count = Number(soft) >= MOST + SPARE ? MOST : FEWER;
    const figures: Figure[] = [];
    for (const tls of [false, true]) {
      const [check, raw] = [await measure('check', tls, count), await measure('raw', tls, count)];
      for (const [what, key] of [
        ['RSS', 'resident'],
        ['heap and external memory', 'heap'],
      ] as const) {
        figures.push({
          what: `Per dialogue ${tls ? 'with TLS' : 'without TLS'}, ${what}`,
          value: `${number(check[key])} KB`,
          floor: `${number(raw[key])} KB`,
          ratio: ratio(check[key] / raw[key]),
        });
      }
    }
    return {
      how:
        `${count.toLocaleString('en-US')} concurrent dialogues waiting for the reply to RCPT; the floor is the same number of ` +
        'bare sockets at the same point. One process for each; the memory added by the last ' +
        `${(count - WARM).toLocaleString('en-US')} of them, after a full collection. One run, because nothing here depends on speed.`,
      figures,
      ...(count < MOST ? { leftOut: [`${MOST} dialogues: the limit is ${soft} open files (ulimit -n).`] } : {}),
    };
  },
};
