/** A host and the Internet around it, as the doctor meets them: all is well, and each part can be made ill. */

import { createResolver } from '../../src/engine/dns/resolver.ts';
import { loadBlocklists } from '../../src/engine/doctor/blocklists.ts';
import { diagnose, type Finding, type World } from '../../src/engine/doctor/diagnose.ts';
import { greet } from '../../src/engine/smtp/control.ts';
import { CONTROL_DOMAINS } from '../../src/engine/smtp/control-hosts.ts';
import { systemClock as clock, toIso } from '../../src/kernel/clock.ts';
import { randomInt } from '../../src/kernel/ids.ts';
import { type DnsLab, type Entry, type Zone, zone } from './dns.ts';
import { type Persona, type SmtpLab, startSmtp } from './smtp.ts';

/** The address under which the lab's mail servers say that they see us. */
export const EGRESS = '203.0.113.5';
export const HELO = 'check.lab.test';
export const SENDER = 'verify@check.lab.test';

/** Mail hosts of the control domains, each on a loopback address of its own. */
export const CONTROL_ADDRESSES = ['127.0.7.1', '127.0.7.2', '127.0.7.3', '127.0.7.4'];

const blocklists = loadBlocklists();

/** A zone in which all is well. */
export const healthy = (): Zone => ({
  ...Object.fromEntries(
    CONTROL_DOMAINS.flatMap((domain, i) => [
      [domain, { MX: [[10, `mx.${domain}`]] } satisfies Entry],
      [`mx.${domain}`, { A: [CONTROL_ADDRESSES[i]!] } satisfies Entry],
    ]),
  ),
  [HELO]: { A: [EGRESS], TXT: [`v=spf1 ip4:${EGRESS} -all`] },
  '5.113.0.203.in-addr.arpa': { PTR: [HELO] },
  ...Object.fromEntries(blocklists.map((list) => [`2.0.0.127.${list.zone}`, { A: ['127.0.0.2'] } satisfies Entry])),
});

export const greetsAs = (ip: string): Persona => ({
  on: ({ verb }) => (verb === 'EHLO' ? [`250-mx.control at your service, [${ip}]`, '250 SIZE'] : undefined),
});

export interface DoctorLab {
  readonly dns: DnsLab;
  readonly port: number;
  readonly world: World;
  close(): Promise<void>;
}

/** What is amiss in a lab that is well otherwise. */
export interface Illness {
  readonly zone?: Zone;
  /** How all mail servers behave; null: nobody listens. */
  readonly persona?: Persona | null;
  readonly world?: Partial<World>;
}

/** One row of a table: what is ill, which check says so and how (`fail port`), what it found, what is to be done. */
export interface IllRow extends Illness {
  readonly ill: string;
  readonly says: `${Finding['result']} ${Finding['check']}`;
  readonly found: RegExp;
  readonly fix: RegExp;
}

/** The findings of the check that a row is about, and all of them. */
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
  const world: World = {
    clock,
    checkMs: 1_200,
    random: randomInt,
    resolver,
    asker: { helo: HELO, from: SENDER, port, bind: [] },
    greet: (address, limit) => greet(address, port, HELO, { ...limit, mayDial }),
    mayDial,
    isPublic: (ip) => ip === EGRESS,
    controls: CONTROL_DOMAINS,
    blocklists,
    lists: { version: toIso(clock.now()).slice(0, 10), problem: null },
    store: () => Promise.resolve('SQLite, version 1'),
    httpDate: () => Promise.resolve({ from: 'web.test', date: httpDateOf(clock.now()), age: null }),
    ...changed,
  };
  const close = async () => {
    resolver.close();
    await Promise.all([dns.close(), ...servers.map((lab) => lab.close())]);
  };
  return { dns, port, world, close } satisfies DoctorLab;
}

/** As a server on the web writes a time (RFC 9110 §5.6.7). */
export const httpDateOf = (ms: number): string => new Date(ms).toUTCString();
