/** A host and the Internet around it, for the doctor: healthy by default, and each part can be broken. */
import { createResolver } from '../../src/engine/dns/resolver.ts';
import { type DoctorDeps, diagnose, type Finding, loadBlocklists } from '../../src/engine/doctor/diagnose.ts';
import { probeGreeting } from '../../src/engine/smtp/connectivity-probe.ts';
import { CANARY_DOMAINS } from '../../src/engine/smtp/egress.ts';
import { systemClock as clock, toIso } from '../../src/kernel/clock.ts';
import { randomInt } from '../../src/kernel/ids.ts';
import { type DnsLab, type Entry, type Zone, zone } from './dns.ts';
import { type Persona, type SmtpLab, startSmtp } from './smtp.ts';

/** Our address as reported by the lab's mail servers. */
export const EGRESS = '203.0.113.5';
export const HELO = 'check.lab.test';
const SENDER = 'verify@check.lab.test';

/** Mail hosts of the canary domains, each on its own loopback address. */
const CONTROL_ADDRESSES = ['127.0.7.1', '127.0.7.2', '127.0.7.3', '127.0.7.4'];

const blocklists = loadBlocklists();

/** A zone without problems. */
const healthy = (): Zone => ({
  ...Object.fromEntries(
    CANARY_DOMAINS.flatMap((domain, i) => [
      [domain, { MX: [[10, `mx.${domain}`]] } satisfies Entry],
      [`mx.${domain}`, { A: [CONTROL_ADDRESSES[i]!] } satisfies Entry],
    ]),
  ),
  [HELO]: { A: [EGRESS], TXT: [`v=spf1 ip4:${EGRESS} -all`] },
  '5.113.0.203.in-addr.arpa': { PTR: [HELO] },
  ...Object.fromEntries(blocklists.map((list) => [`2.0.0.127.${list.zone}`, { A: ['127.0.0.2'] } satisfies Entry])),
});

const greetsAs = (ip: string): Persona => ({
  on: ({ verb }) => (verb === 'EHLO' ? [`250-mx.control at your service, [${ip}]`, '250 SIZE'] : undefined),
});

interface DoctorLab {
  readonly dns: DnsLab;
  readonly port: number;
  readonly world: DoctorDeps;
  close(): Promise<void>;
}

/** Faults in an otherwise healthy lab. */
interface Illness {
  readonly zone?: Zone;
  /** The behavior of all mail servers; null: nothing listens. */
  readonly persona?: Persona | null;
  readonly world?: Partial<DoctorDeps>;
}

/** A table row: the fault, the check that reports it (`fail port`), what it found and how to fix it. */
export interface IllRow extends Illness {
  readonly ill: string;
  readonly says: `${Finding['result']} ${Finding['check']}`;
  readonly found: RegExp;
  readonly fix: RegExp;
  /** Default: none that the ranking of problems knows. */
  readonly problem?: Finding['problem'];
}

/** The findings of the row's check, and all findings. */
export async function diagnosed(illness: Illness): Promise<{ all: Finding[]; of(check: Finding['check']): Finding[] }> {
  const lab = await doctorLab(illness);
  const all = await diagnose(lab.world);
  await lab.close();
  return { all, of: (check) => all.filter((finding) => finding.check === check) };
}

export async function doctorLab({ zone: records, persona = greetsAs(EGRESS), world: changed }: Illness = {}) {
  const dns = await zone({ ...healthy(), ...records });
  const servers: SmtpLab[] = [];
  let port = 9;
  for (const address of persona === null ? [] : CONTROL_ADDRESSES) {
    const lab = await startSmtp(persona ?? {}, { address, port: servers.length === 0 ? 0 : port });
    servers.push(lab);
    port = lab.port;
  }
  const resolver = createResolver({ servers: dns.servers, timeoutMs: 300, clock });
  const mayDial = (ip: string) => ip.startsWith('127.');
  const world: DoctorDeps = {
    clock,
    checkMs: 1_200,
    random: randomInt,
    resolver,
    sender: { helo: HELO, from: SENDER, port, bind: [] },
    probeGreeting: (address, { withinMs, bind }) =>
      probeGreeting(address, port, HELO, { withinMs, egress: { bind, via: null }, mayDial }),
    mayDial,
    isPublic: (ip) => ip === EGRESS,
    canaryDomains: CANARY_DOMAINS,
    blocklists,
    lists: { version: toIso(clock.now()).slice(0, 10), problem: null },
    store: () => Promise.resolve({ name: 'SQLite, version 1', looseModes: [], clock: { aheadMs: 0, stepMs: 0 } }),
    httpDate: () => Promise.resolve({ from: 'web.test', date: httpDateOf(clock.now()), age: null }),
    ...changed,
  };
  const close = async () => {
    resolver.close();
    await Promise.all([dns.close(), ...servers.map((lab) => lab.close())]);
  };
  return { dns, port, world, close } satisfies DoctorLab;
}

/** An HTTP date (RFC 9110 §5.6.7). */
export const httpDateOf = (ms: number): string => new Date(ms).toUTCString();
