/** What one account, or a stranger, can make this service conclude for the others: nothing. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { clockAhead } from '../lab/clock.ts';
import { startMailSink } from '../lab/mail-sink.ts';
import { browser, PASSWORD } from '../lab/person.ts';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';
import { type Persona, type SmtpLab, startSmtp } from '../lab/smtp.ts';

vi.setConfig({ testTimeout: 60_000 });

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const BLOCKED = '554 5.7.1 Service unavailable; Client host [127.0.0.1] blocked using zen.spamhaus.org';
const refuses: Persona = { banner: BLOCKED };
const accepts: Persona = { mailboxes: ['jane', 'postmaster'] };
/** Refuses when the recipient is named, as a customer's rule at a shared operator does. */
const refusesAtRcpt: Persona = { on: ({ verb }) => (verb === 'RCPT' ? BLOCKED : undefined) };

/** Mail hosts, each at an address of its own, with a persona and the domains that they serve. */
type Hosts = Readonly<Record<string, { readonly is: Persona; readonly of: readonly string[] }>>;

const CANARY_HOSTS = {
  'gmail-smtp-in.l.google.com': 'gmail.com',
  'outlook-com.olc.protection.outlook.com': 'outlook.com',
  'mta5.am0.yahoodns.net': 'yahoo.com',
  'mx01.mail.icloud.com': 'icloud.com',
};
const canaries = (is: Persona): Hosts =>
  Object.fromEntries(Object.entries(CANARY_HOSTS).map(([host, domain]) => [host, { is, of: [domain] }]));

interface Network {
  readonly lab: Lab;
  readonly servers: ReadonlyMap<string, SmtpLab>;
  /** The check of an address, as the reason; null: deliverable. */
  check(who: Member, email: string): Promise<{ reason: string | null; rule: string }>;
  state(): Promise<string>;
  pass(ms: number): void;
}

async function networkOf(hosts: Hosts, environment: Record<string, string> = {}): Promise<Network> {
  const net: Record<string, { MX?: [number, string][]; A?: string[] }> = {};
  const servers = new Map<string, SmtpLab>();
  let [port, last] = [0, 1];
  for (const [host, { is, of }] of Object.entries(hosts)) {
    const address = `127.0.${100 + last}.1`;
    last++;
    const server = await startSmtp(is, { address, port });
    ({ port } = server);
    open.push(server);
    servers.set(host, server);
    net[host] = { A: [address] };
    for (const domain of of) net[domain] = { MX: [...(net[domain]?.MX ?? []), [10, host]] };
  }
  const { clock, pass } = clockAhead();
  const lab = await startLab(
    { MAILVET_SMTP_PORT: `${port}`, MAILVET_SMTP_RATE_PER_OPERATOR: '0', ...environment },
    { net, clock },
  );
  open.push(lab);
  return {
    lab,
    servers,
    pass,
    async check(who, email) {
      const { json } = await who.verify(email, { validation_type: 'smtp', timeout_ms: 20_000 });
      return { reason: json.reason, rule: json.checks.smtp.rule };
    },
    state: async () => (await request(lab.url, 'GET', '/readyz')).json.details.egress.state,
  };
}

/** One host for each name, which serves a domain of its own. */
const eachWith = (is: Persona, names: readonly string[], tag: string): Hosts =>
  Object.fromEntries(names.map((host, i) => [host, { is, of: [`${tag}${i}.com`] }]));
const domainsOf = (hosts: Hosts): string[] => Object.values(hosts).flatMap(({ of }) => of);

const OWN_NAMES = Array.from({ length: 6 }, (_, i) => `mx.stranger${i}.com`);
/** Names that anybody has who rents a server there: they end like those of the operator's mail hosts. */
const RENTED = [
  'ec2-203-0-113-7.compute-1.amazonaws.com',
  'vps-1a2b3c.vps.ovh.net',
  'ip-203-0-113-9.ip.secureserver.net',
  'c-203-0-113-11.hsd1.comcast.net',
  'cpe-203-0-113-12.nyc.res.rr.com',
  's12345.kundenserver.de',
];
const KNOWN = ['aspmx.l.google.com', 'a-com.mail.protection.outlook.com', 'mx.zoho.com', 'mx.yandex.net'];

const good: Hosts = { 'mx.victim.com': { is: accepts, of: ['victim.com'] } };
const members = (lab: Lab, count: number) => Promise.all(Array.from({ length: count }, () => lab.member()));

describe('mail hosts of customers that say our address is blocked', () => {
  /** Accepts us first, to be counted as an operator that knows us. */
  const turning = (): Persona => {
    let asked = 0;
    return { mailboxes: [], on: ({ verb }) => (verb === 'RCPT' && asked++ > 0 ? BLOCKED : undefined) };
  };
  it.each([
    ['under names of their own', OWN_NAMES, () => refuses, 1],
    ['under names of their own, of two accounts', OWN_NAMES, () => refuses, 2],
    ['under names of rented servers', RENTED, () => refuses, 1],
    ['under names of rented servers, of two accounts', RENTED, () => refuses, 2],
    ['that accepted us before, of two accounts', OWN_NAMES, turning, 2],
  ])('end nobody else’s checks: %s', async (_, names, persona, count) => {
    const strange: Hosts = Object.fromEntries(
      names.map((host, i) => [host, { is: persona(), of: [`strange${i}.com`] }]),
    );
    const { lab, check, state } = await networkOf({ ...strange, ...good, ...canaries(accepts) });
    const strangers = await members(lab, count);
    for (let round = 0; round < 2; round++)
      for (const who of strangers) for (const domain of domainsOf(strange)) await check(who, `jane@${domain}`);
    const other = await lab.member();
    expect(await check(other, 'jane@victim.com')).toMatchObject({ reason: null });
    // Nor those of the account itself: it may be asked to check what strangers type into its form.
    for (const who of strangers) expect(await check(who, 'jane@victim.com')).toMatchObject({ reason: null });
    expect(await state()).toBe('ok');
  });

  it.each([
    1, 3,
  ])('end nobody else’s checks when they cannot be reached, and no canary either (%i accounts)', async (count) => {
    const names = count === 1 ? [...OWN_NAMES, ...RENTED.slice(0, 2)] : RENTED;
    const net = eachWith({}, names, 'dead');
    const { lab, servers, check, state } = await networkOf({ ...good, ...net });
    for (const [host, server] of servers) if (host in net) await server.close();
    for (const stranger of await members(lab, count))
      for (const domain of domainsOf(net)) await check(stranger, `jane@${domain}`);
    expect(await check(await lab.member(), 'jane@victim.com')).toMatchObject({ reason: null });
    if (count === 1) expect(await state()).toBe('ok');
  });
});

describe('a sign-up', () => {
  it('asks no mail server, teaches nothing, and does not tell whether a mailbox exists', async () => {
    const sink = await startMailSink();
    open.push(sink);
    const strange = eachWith(refuses, OWN_NAMES, 'strange');
    const { lab, servers, check, state } = await networkOf(
      { ...strange, ...good },
      { MAILVET_MAIL_URL: sink.url, MAILVET_SIGNUP: 'open' },
    );
    const signUp = async (email: string) => {
      await lab.store.attempts.clear('mail-ip:127.0.0.1');
      const reply = await browser(lab.url).call('POST', '/dashboard/sign-up', { name: 'x', email, password: PASSWORD });
      return [reply.status, reply.text];
    };
    for (const domain of domainsOf(strange)) await signUp(`jane@${domain}`);
    expect(await signUp('nobody@victim.com')).toEqual(await signUp('jane@victim.com'));
    expect([...servers.values()].flatMap(({ connections }) => connections)).toEqual([]);
    expect(await state()).toBe('ok');
    expect(await check(await lab.member(), 'jane@victim.com')).toMatchObject({ reason: null });
  });
});

describe('operators that the data knows, which reject us all', () => {
  const refusing = eachWith(refuses, KNOWN, 'known');
  const accuse = async ({ check }: Network, accounts: readonly Member[]) => {
    for (const [i, domain] of domainsOf(refusing).entries())
      await check(accounts[i % accounts.length] as Member, `jane@${domain}`);
  };
  const settled = (network: Network) => vi.waitUntil(async () => (await network.state()) !== 'ok', { timeout: 20_000 });

  it('end the checks of all, if canaries reject us too, until an operator that was none of them accepts us', async () => {
    const strange = eachWith(refuses, OWN_NAMES, 'strange');
    const network = await networkOf({ ...refusing, ...strange, ...good, ...canaries(refuses) });
    const { lab, check, servers, pass, state } = network;
    const accounts = await members(lab, 3);
    const [a, , other] = accounts as [Member, Member, Member];
    await accuse(network, accounts.slice(0, 2));
    await settled(network);
    const before = [...servers.values()].map(({ connections }) => connections.length);
    expect(await check(other, 'jane@victim.com')).toEqual({
      reason: 'smtp_blocked',
      rule: 'egress.refused_everywhere',
    });
    expect([...servers.values()].map(({ connections }) => connections.length)).toEqual(before);
    pass(30_000);
    // Those that rejected us are not tried again, and hosts that nobody knows leave a turn to others.
    for (const domain of domainsOf(refusing))
      expect((await check(a, `jane@${domain}`)).rule).toBe('egress.refused_everywhere');
    await check(a, 'jane@strange0.com');
    expect((await check(a, 'jane@strange1.com')).rule).toBe('egress.refused_everywhere');
    expect(await state()).toBe('refused_everywhere');
    pass(30_000);
    expect(await check(other, 'jane@victim.com')).toMatchObject({ reason: null });
    expect(await state()).toBe('ok');
  });

  it('end the checks of that account alone, if only one has asked them', async () => {
    const network = await networkOf({ ...refusing, ...good, ...canaries(refuses) });
    const { lab, check } = network;
    const [a, other] = (await members(lab, 2)) as [Member, Member];
    await accuse(network, [a]);
    await settled(network);
    expect((await check(a, 'jane@victim.com')).rule).toBe('egress.refused_everywhere');
    expect(await check(other, 'jane@victim.com')).toMatchObject({ reason: null });
  });

  it.each([
    ['accept us', canaries(accepts)],
    ['cannot be asked', {}],
  ])('end nobody’s checks if canaries %s', async (_, hosts) => {
    const network = await networkOf({ ...refusing, ...good, ...hosts });
    const { lab, check, state } = network;
    const accounts = await members(lab, 3);
    await accuse(network, accounts.slice(0, 2));
    expect(await check(accounts[2] as Member, 'jane@victim.com')).toMatchObject({ reason: null });
    expect(await state()).toBe('ok');
  });
});

describe('the breaker of a shared operator', () => {
  const [SES, RENTED_THERE] = ['inbound-smtp.eu-west-1.amazonaws.com', RENTED[0] ?? ''];
  const closedFor = async ({ check }: Network, who: Member, email: string) =>
    (await check(who, email)).rule === 'pace.breaker';

  it.each([
    [
      'a rented server under its name',
      { [RENTED_THERE]: { is: refuses, of: ['s0.com', 's1.com', 's2.com', 's3.com'] } },
    ],
    [
      'rules of a customer’s domains',
      { 'mx2.amazonaws.com': { is: refusesAtRcpt, of: ['s0.com', 's1.com', 's2.com', 's3.com'] } },
    ],
    [
      'its host’s name among those of a customer’s domain',
      {
        [SES]: { is: accepts, of: ['s0.com', 's1.com', 's2.com'] },
        'mx.s.com': { is: refuses, of: ['s0.com', 's1.com'] },
      },
    ],
  ] as [string, Hosts][])('does not open for others by %s, however many accounts ask', async (_, strange) => {
    // What the operator says of itself is asked of its own domain.
    const own: Hosts = { [SES]: { is: accepts, of: ['victim.com', 'amazonaws.com', ...(strange[SES]?.of ?? [])] } };
    const network = await networkOf({ ...strange, ...own });
    const [other, ...strangers] = (await members(network.lab, 4)) as [Member, ...Member[]];
    for (const stranger of strangers)
      for (const domain of new Set(domainsOf(strange))) await network.check(stranger, `jane@${domain}`);
    expect(await network.check(other, 'jane@victim.com')).toMatchObject({ reason: null });
  });

  it.each([
    ['before a recipient is named', refuses, ['jane@known0.com'], 'jane@known5.com'],
    [
      'when recipients of three domains are named',
      refusesAtRcpt,
      ['jane@known0.com', 'jane@known1.com', 'jane@known2.com'],
      'jane@known5.com',
    ],
  ])('opens for an account that it rejects %s, and for all if it rejects us for its own mailbox', async (_, is, asked, email) => {
    const of = Array.from({ length: 6 }, (_, i) => `known${i}.com`);
    // Each domain with a host of its own, so that no address is in the way.
    const hosts: Hosts = Object.fromEntries(of.map((domain, i) => [`mx${i}.zoho.com`, { is, of: [domain] }]));
    const itself: Hosts = { 'smtpin.zoho.com': { is, of: ['zoho.com'] } };
    const network = await networkOf({ ...hosts, ...itself, ...good });
    const [a, b, c] = (await members(network.lab, 3)) as [Member, Member, Member];
    for (const one of asked) expect(await closedFor(network, a, one)).toBe(false);
    expect(await closedFor(network, a, email)).toBe(true);
    // What was said of a domain when its recipient was named counts for that domain, whoever asks.
    const others = is === refuses ? asked : ['jane@known3.com', 'jane@known4.com', 'jane@known5.com'];
    for (const one of others) expect(await closedFor(network, b, one)).toBe(false);
    const last = is === refuses ? email : 'jane@known0.com';
    for (const who of [a, b]) expect(await closedFor(network, who, last)).toBe(true);
    await vi.waitUntil(() => network.servers.get('smtpin.zoho.com')?.connections.length === 1, { timeout: 20_000 });
    await vi.waitUntil(() => closedFor(network, c, 'jane@known1.com'), { timeout: 20_000, interval: 500 });
  });
});

it('what a server makes of its own domain, or of a name that points at another’s server, stays with that domain', async () => {
  const hosts: Hosts = {
    'mx.liar.com': { is: { mailboxes: ['*'] }, of: ['liar.com'] },
    'mx.victim.com': { is: accepts, of: ['victim.com', 'points-at-victim.com'] },
  };
  const { lab, check } = await networkOf(hosts);
  const [stranger, other] = (await members(lab, 2)) as [Member, Member];
  expect((await check(stranger, 'jane@liar.com')).reason).toBe('catch_all');
  const words = 'client.host.blocked.using.zen.spamhaus.org';
  for (const domain of ['points-at-victim.com', 'victim.com'])
    expect((await check(stranger, `${words}@${domain}`)).reason).toBe('mailbox_not_found');
  expect(await check(other, 'jane@victim.com')).toMatchObject({ reason: null });
  expect((await check(other, 'john@victim.com')).reason).toBe('mailbox_not_found');
});
