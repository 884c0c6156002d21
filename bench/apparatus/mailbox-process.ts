/** Runs the mailbox check or its floor in a separate process, to measure its CPU time. */
import type { DnsEvidence } from '../../src/engine/evidence.ts';
import type { MailboxCheck } from '../../src/engine/smtp/mailbox.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { SocksServer } from '../../src/kernel/egress.ts';
import { labAddress, labCheck, labEgresses, labHosts } from '../../tests/lab/mailbox.ts';
import { answer } from './children.ts';
import type { MailboxLoad, MailboxReport } from './mailbox-load.ts';
import { rawDialogue } from './raw-smtp.ts';

/** Kept from run to run, with the catch-all result cached. */
const checks = new Map<string, MailboxCheck>();

function checkFor({ port, connectionsPerHost, recipientsPerSession, via }: MailboxLoad): MailboxCheck {
  const key = `${port} ${connectionsPerHost} ${recipientsPerSession} ${via?.port}`;
  const known = checks.get(key);
  if (known !== undefined) return known;
  const limits = recipientsPerSession === undefined ? {} : { recipientsPerSession };
  const egresses = via === undefined ? {} : { egresses: labEgresses([], { via: relayAt(via) }) };
  const check = labCheck(port, { connectionsPerHost, limits, ...egresses });
  checks.set(key, check);
  return check;
}

const relayAt = ({ port, password, ca }: NonNullable<MailboxLoad['via']>): SocksServer => ({
  host: '127.0.0.1',
  port,
  tls: ca !== null,
  ca,
  credentials: () => ({ user: 'mailvet', password }),
});

const hostsOf = new Map<string, DnsEvidence>();
function dnsOf(address: string): DnsEvidence {
  const known = hostsOf.get(address) ?? labHosts({ [`mx.operator-${address.replaceAll('.', '-')}.test`]: [address] });
  hostsOf.set(address, known);
  return known;
}

/** Checks at tarpits, run alongside the measured ones; ended by the signal. */
async function askTarpits(check: MailboxCheck, { tarpits }: MailboxLoad, signal: AbortSignal): Promise<void> {
  const count = tarpits?.count ?? 0;
  for (let i = 0; i < count; i++) {
    const dns = labHosts({ [`mx.tarpit-${i}.test`]: [tarpits!.addresses[i % tarpits!.addresses.length]!] });
    const address = labAddress(`jane@tarpit-${i}.test`);
    void check.check({ address, dns }, { deadlineMs: systemClock.elapsed() + 60_000, signal, tenant: '' });
  }
  while (check.stats().open < count) await pause(10);
  // Until all of them are connected and dripping.
  if (count > 0) await pause(1000);
}

async function run(load: MailboxLoad): Promise<MailboxReport> {
  const { addresses, domains, count, open, port } = load;
  const check = load.who === 'check' ? checkFor(load) : null;
  const ended = new AbortController();
  if (check !== null) await askTarpits(check, load, ended.signal);
  const questions = Array.from({ length: count }, (_, i) => {
    const address = addresses[(i % domains) % addresses.length]!;
    const recipient = `jane${i}@d${i % domains}.test`;
    return { raw: { address, port, recipient }, subject: { address: labAddress(recipient), dns: dnsOf(address) } };
  });
  const latencies = new Float64Array(count);
  let next = 0;
  const one = async ({ raw, subject }: (typeof questions)[number]): Promise<void> => {
    if (load.who !== 'check') return rawDialogue(raw, load.who);
    const { smtp } = await check!.check(subject, { deadlineMs: systemClock.elapsed() + 60_000, tenant: '' });
    if (smtp.finding !== 'accepted') throw new Error(`${raw.recipient}: ${smtp.finding}, ${smtp.rule}`);
  };
  const worker = async (): Promise<void> => {
    while (next < count) {
      const i = next++;
      const began = performance.now();
      await one(questions[i]!);
      latencies[i] = performance.now() - began;
    }
  };
  const busy = (): number => (check === null ? 0 : check.stats().open - check.stats().idle);
  const others = busy();
  const [cpu, began] = [process.cpuUsage(), performance.now()];
  await Promise.all(Array.from({ length: open }, worker));
  while (busy() > others) await pause(1);
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  ended.abort();
  while (busy() > 0) await pause(10);
  latencies.sort();
  return {
    perSecond: count / seconds,
    cpuMicros: (user + system) / count,
    p50: latencies[count >> 1]!,
    p99: latencies[Math.floor(count * 0.99)]!,
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

answer<MailboxLoad>(run);
