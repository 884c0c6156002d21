/** Asks mail servers, as the mailbox check or as its floor, in a process of its own, so that its CPU can be told. */
import type { DnsEvidence } from '../../src/engine/evidence.ts';
import type { MailboxCheck } from '../../src/engine/smtp/mailbox.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { labAddress, labCheck, labHosts } from '../../tests/lab/mailbox.ts';
import { answer } from './children.ts';
import type { MailboxLoad, MailboxReport } from './mailbox-load.ts';
import { rawDialogue } from './raw-smtp.ts';

/** Kept from run to run, and warm: the answer about catch-all is in its cache. */
const checks = new Map<string, MailboxCheck>();

function checkFor({ port, connectionsPerHost, recipientsPerSession }: MailboxLoad): MailboxCheck {
  const key = `${port} ${connectionsPerHost} ${recipientsPerSession}`;
  const known = checks.get(key);
  if (known !== undefined) return known;
  const limits = recipientsPerSession === undefined ? {} : { recipientsPerSession };
  const check = labCheck(port, { connectionsPerHost, limits });
  checks.set(key, check);
  return check;
}

const hostsOf = new Map<string, DnsEvidence>();
function dnsOf(address: string): DnsEvidence {
  const known = hostsOf.get(address) ?? labHosts({ [`mx.operator-${address.replaceAll('.', '-')}.test`]: [address] });
  hostsOf.set(address, known);
  return known;
}

async function run(load: MailboxLoad): Promise<MailboxReport> {
  const { addresses, domains, count, open } = load;
  const check = load.who === 'check' ? checkFor(load) : null;
  const latencies = new Float64Array(count);
  let next = 0;
  const one = async (i: number): Promise<void> => {
    const address = addresses[(i % domains) % addresses.length]!;
    const recipient = `jane${i}@d${i % domains}.test`;
    if (check === null) return rawDialogue({ address, port: load.port, recipient });
    const deadline = systemClock.elapsed() + 60_000;
    const { smtp } = await check.check({ address: labAddress(recipient), dns: dnsOf(address) }, { deadline });
    if (smtp.finding !== 'accepted') throw new Error(`${recipient}: ${smtp.finding}, ${smtp.rule}`);
  };
  const worker = async (): Promise<void> => {
    while (next < count) {
      const i = next++;
      const began = performance.now();
      await one(i);
      latencies[i] = performance.now() - began;
    }
  };
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  await Promise.all(Array.from({ length: open }, worker));
  while (check !== null && check.stats().open - check.stats().idle > 0) await new Promise(setImmediate);
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  latencies.sort();
  return {
    perSecond: count / seconds,
    cpuMicros: (user + system) / count,
    p50: latencies[count >> 1]!,
    p99: latencies[Math.floor(count * 0.99)]!,
  };
}

answer<MailboxLoad>(run);
