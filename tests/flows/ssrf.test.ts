/**
 * Names that resolve to special addresses: Mailvet never connects to them. A canary listens on every address of this
 * machine, and every attempted connection is recorded. The egress is bound to loopback, so the kernel itself rejects
 * (EINVAL) the one public address in these tests: no packet can leave the machine.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { routable, SPECIAL_BLOCKS } from '../../src/engine/dns/routable.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { Zone } from '../lab/dns.ts';
import { ask, labCheck, labHosts } from '../lab/mailbox.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

/** Globally reachable by IANA's registry (RFC 7723), and not a mail server. */
const PUBLIC = '192.0.0.9';

/** Notations for local and neighboring addresses that are not at the start of the registry's blocks. */
const OTHERS = [
  '127.0.0.1',
  '127.255.255.254',
  '10.1.2.3',
  '169.254.169.254',
  '172.31.255.254',
  '192.168.1.1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:169.254.169.254',
  '::127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::10.0.0.1',
  '2002:7f00:1::1',
  '2002:a00:1::1',
  'fe80::1',
  'fd12:3456:789a::1',
];
const BLOCKS = SPECIAL_BLOCKS.filter(({ rule }) => rule === 'refuse').map(({ cidr }) => cidr.replace(/\/.*/, ''));
const OWN = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
const SPECIAL = [...new Set([...OTHERS, ...BLOCKS, ...OWN])];

const recordOf = (address: string) => (address.includes(':') ? { AAAA: [address] } : { A: [address] });

/** Each special address as address of the mail host, of the domain itself, and at the end of a CNAME chain. */
function zoneOf(addresses: readonly string[]): Zone {
  const zone: Record<string, Zone[string]> = {};
  for (const [i, address] of addresses.entries()) {
    zone[`mx${i}.com`] = { MX: [[10, `host${i}.net`]] };
    zone[`host${i}.net`] = recordOf(address);
    zone[`implicit${i}.com`] = recordOf(address);
    zone[`chain${i}.com`] = { MX: [[10, `alias${i}.net`]] };
    zone[`alias${i}.net`] = { CNAME: `host${i}.net` };
  }
  return zone;
}

/** Host names that a system's resolver would interpret as an address. */
const LITERALS = ['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', 'localhost', 'localhost.localdomain'];

const NET: Zone = {
  ...zoneOf(SPECIAL),
  ...Object.fromEntries(LITERALS.map((host, i) => [`literal${i}.com`, { MX: [[10, host]] as const }])),
  ...Object.fromEntries(LITERALS.map((host) => [host, { A: ['127.0.0.1'] }])),
  'everything.com': { MX: SPECIAL.slice(0, 18).map((_, i) => [i, `host${i}.net`] as const) },
  'together.com': { MX: [[10, 'mx.together.com']] },
  'mx.together.com': { A: ['127.0.0.1', PUBLIC, '10.0.0.1'], AAAA: ['::1'] },
  'apart.com': {
    MX: [
      [10, 'private.apart.com'],
      [20, 'public.apart.com'],
    ],
  },
  'private.apart.com': { A: ['127.0.0.1'] },
  'public.apart.com': { A: [PUBLIC] },
};

let canary: Server;
let port: number;
let heard = 0;
let dialled: string[] = [];

/** Records the destination before the system call. */
function onSocket(message: unknown): void {
  const { socket } = message as { socket: Socket };
  socket.on('connectionAttempt', (address: string, to: number) => {
    if (to === port) dialled.push(address);
  });
}

beforeAll(async () => {
  canary = createServer((socket) => {
    heard++;
    socket.on('error', () => {});
    socket.resume().end('421 4.3.2 Service not available\r\n');
  });
  // Both families, all addresses; without IPv6, all IPv4 addresses.
  await new Promise<void>((resolve) => {
    canary.once('error', () => canary.listen(0, '0.0.0.0'));
    canary.once('listening', resolve);
    canary.listen(0, '::');
  });
  port = (canary.address() as AddressInfo).port;
  subscribe('net.client.socket', onSocket);
});
beforeEach(() => {
  heard = 0;
  dialled = [];
});
afterAll(async () => {
  unsubscribe('net.client.socket', onSocket);
  await new Promise((resolve) => canary.close(resolve));
});

const settings = () => ({
  MAILVET_SMTP_PORT: String(port),
  MAILVET_SMTP_HELO: 'verifier.example.com',
  MAILVET_SMTP_BIND: '127.0.0.1,::1',
  MAILVET_SMTP_RATE_PER_OPERATOR: '0',
  MAILVET_ALLOW_PRIVATE_NETWORKS: 'false',
});
const rich = { credits: 100_000, rateLimit: 100_000 };
const smtp = { validation_type: 'smtp', timeout_ms: 4000 };

describe('names of special addresses', () => {
  let lab: Lab;
  let member: Member;
  beforeAll(async () => {
    lab = await startLab(settings(), { net: NET });
    member = await lab.member(rich);
  });
  afterAll(() => lab.close());

  it.each(SPECIAL.map((address, i) => [address, i] as const))('never connects to %s', async (_, i) => {
    for (const domain of [`mx${i}.com`, `implicit${i}.com`, `chain${i}.com`]) {
      const { json } = await member.verify(`jane@${domain}`, smtp);
      expect(json).toMatchObject({ status: 'bad', reason: 'mx_unusable', validation_type: 'mx', credits_used: 1 });
    }
    expect([heard, dialled]).toEqual([0, []]);
  });

  it.each(LITERALS.map((host, i) => [host, i] as const))('never connects to the host name %s', async (_, i) => {
    const { json } = await member.verify(`jane@literal${i}.com`, smtp);
    expect(json).toMatchObject({ status: 'bad', reason: 'mx_unusable' });
    expect([heard, dialled]).toEqual([0, []]);
  });

  it('never connects to a domain with many such hosts', async () => {
    expect((await member.verify('jane@everything.com', smtp)).json.reason).toBe('mx_unusable');
    expect([heard, dialled]).toEqual([0, []]);
  });

  it.each([
    'together.com',
    'apart.com',
  ])('connects only to the public one of public and private addresses: %s', async (domain) => {
    const { json } = await member.call('POST', '/v1/verify?evidence=1', { email: `jane@${domain}`, ...smtp });
    expect(json).toMatchObject({ status: 'good', reason: 'smtp_unreachable', credits_used: 1 });
    expect(json.evidence.mail_hosts.flatMap((host: { addresses: string[] }) => host.addresses)).toEqual([PUBLIC]);
    expect([heard, dialled]).toEqual([0, [PUBLIC]]);
  });
});

describe('names that change', () => {
  let lab: Lab;
  let member: Member;
  let skew = 0;
  const clock = { now: () => systemClock.now() + skew, elapsed: () => systemClock.elapsed() + skew };
  beforeAll(async () => {
    const net: Zone = {
      'rebind.com': { MX: [[10, 'mx.rebind.com']], ttl: 0 },
      // The address changes while the stage waits for AAAA.
      'mx.rebind.com': { A: [PUBLIC], ttl: 0, fault: { AAAA: { slow: 300 } } },
    };
    lab = await startLab({ ...settings(), MAILVET_DNS_TIMEOUT_MS: '2000' }, { net, clock });
    member = await lab.member(rich);
  });
  afterAll(() => lab.close());

  it('connects to the address that was checked, without a second look-up at TTL 0', async () => {
    const asked = member.verify('jane@rebind.com', smtp);
    while (lab.dns.asked('mx.rebind.com', 'A') === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    lab.dns.set('mx.rebind.com', { A: ['127.0.0.1'], ttl: 0 });
    expect((await asked).json.reason).toBe('smtp_unreachable');
    expect((await member.verify('jane@rebind.com', smtp)).json.reason).toBe('smtp_unreachable');
    expect(lab.dns.asked('mx.rebind.com', 'A')).toBe(1);
    expect([heard, [...new Set(dialled)]]).toEqual([0, [PUBLIC]]);
  });

  it('checks again when it looks up again', async () => {
    skew += 3_600_000;
    expect((await member.verify('jane@rebind.com', smtp)).json.reason).toBe('mx_unusable');
    expect(lab.dns.asked('mx.rebind.com', 'A')).toBe(2);
    expect([heard, dialled]).toEqual([0, []]);
  });
});

describe('the check before connecting', () => {
  const evidenceFor = (address: string) => ({ dns: labHosts({ 'mx.example.com': [address] }), ms: 1000 });

  it.each(SPECIAL)('rejects %s, even if the DNS stage had accepted it', async (address) => {
    const own = new Set<string>();
    const check = labCheck(port, { mayDial: (ip) => routable(ip, { allowPrivate: false, own }) });
    // The service also rejects the host's own addresses; here only the address ranges count.
    if (OWN.includes(address) && routable(address, { allowPrivate: false, own })) return;
    expect((await ask(check, evidenceFor(address))).smtp.finding).toBe('smtp_unreachable');
    await check.close();
    expect([heard, dialled]).toEqual([0, []]);
  });
});

describe('the canary', () => {
  it('does record an allowed connection', async () => {
    const net = zoneOf(['127.0.0.1', '::ffff:127.0.0.1']);
    const lab = await startLab({ ...settings(), MAILVET_ALLOW_PRIVATE_NETWORKS: 'true' }, { net });
    const member = await lab.member(rich);
    expect((await member.verify('jane@mx0.com', smtp)).json.reason).toBe('smtp_temporary_failure');
    await lab.close();
    expect([heard, dialled]).toEqual([1, ['127.0.0.1']]);
  });
});
