/** Opens many dialogues that get no reply, with the mailbox check or its floor, and reports their memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../src/kernel/clock.ts';
import { labAddress, labCheck, labHosts } from '../../tests/lab/mailbox.ts';
import { answer } from './children.ts';
import { rawWaiting } from './raw-smtp.ts';

export type Waiting =
  | { readonly is: 'open'; readonly who: 'check' | 'raw'; readonly port: number; readonly tls: boolean; count: number }
  /** Current memory of this process, in octets. */
  | { readonly is: 'measure' };

export interface Held {
  readonly resident: number;
  readonly heap: number;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const ADDRESS = '127.0.0.3';
const LONG_MS = 240_000;
const AT_ONCE = 100;
/** Limits that a slow dialogue would hit. */
const LIMITS = { connectMs: LONG_MS, bannerMs: LONG_MS, commandMs: LONG_MS, tlsMs: LONG_MS, sessionMs: LONG_MS };

const kept: unknown[] = [];

function openChecks(port: number, tls: boolean, count: number): void {
  const limits = { ...LIMITS, recipientsPerSession: 1, dialogues: count };
  const check = labCheck(port, { connectionsPerHost: count, limits, tls: tls ? 'opportunistic' : 'demanded' });
  const dns = labHosts({ 'mx.slow.test': [ADDRESS] });
  const deadlineMs = systemClock.elapsed() + LONG_MS;
  for (let i = 0; i < count; i++) {
    kept.push(check.check({ address: labAddress(`jane${i}@slow.test`), dns }, { deadlineMs, tenant: '' }));
  }
}

async function openRaw(port: number, tls: boolean, count: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const recipient = `jane${next++}@slow.test`;
      kept.push(await rawWaiting({ address: ADDRESS, port, recipient }, tls));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

answer<Waiting>(async (message): Promise<Held> => {
  if (message.is === 'open' && message.who === 'check') openChecks(message.port, message.tls, message.count);
  if (message.is === 'open' && message.who === 'raw') await openRaw(message.port, message.tls, message.count);
  collect();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { resident: rss, heap: heapUsed + external };
});
