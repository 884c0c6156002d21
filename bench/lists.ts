/** Lists of addresses from the upload to the last result, beside single calls of the same service. */
import { SMTP_CONNECTIONS_PER_HOST } from '../src/kernel/facts/limits.ts';
import { whyNoPostgres } from '../tests/lab/postgres.ts';
import { coldNames } from './apparatus/cold-names.ts';
import { type ListSample, type ListServer, runList } from './apparatus/list-load.ts';
import { type Loader, posts, startLoader } from './apparatus/load.ts';
import { startProber } from './apparatus/mailbox-load.ts';
import { interleave, median, medianRatio, residentMb } from './apparatus/measure.ts';
import { startNameServer } from './apparatus/name-server.ts';
import { DOMAINS, emails, SHARED_HOSTS, sharedDomain, WILDCARD } from './apparatus/names.ts';
import { SERVED_POSTGRES, startServedPostgres } from './apparatus/postgres-server.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';
import { ensureBuilt, prepareGround, SERVE, startService, verifyOnce } from './apparatus/service.ts';
import { NO_SINK, startSink } from './apparatus/sink.ts';

const ROUNDS = 3;
const WARM = 100_000;
const COLD = 50_000;
const MAILBOXES = 10_000;
const MILLION = 1_000_000;
const CONNECTIONS = 64;
const SECONDS = 2;
/** Single calls while a list runs: as many as a busy client has open. */
const BESIDE_CONNECTIONS = 8;
const AIM = {
  perSecond: { SQLite: 25_000, PostgreSQL: 12_000 },
  beside: 2,
  mailboxes: 5,
  firstSeconds: 2,
  grownMb: 100,
};
type Engine = keyof (typeof AIM)['perSecond'];
type Service = ListServer & { stop(): Promise<void> };

/** A service with the names of `DOMAINS` in its cache. */
async function startWarm(url?: string): Promise<Service> {
  const ground = await prepareGround(url);
  const { key } = await ground.account();
  const service = await startService(ground);
  for (const domain of DOMAINS) await verifyOnce(service.port, key, `jane.doe1@${domain}`);
  const stop = async () => {
    await service.stop();
    await ground.clear();
  };
  return { pid: service.pid, port: service.port, key, stop };
}

const singleCalls = (loader: Loader, { pid, port, key }: Service, connections: number, seconds = SECONDS) => {
  const bodies = emails(2048).map((email) => ({ email }));
  return loader.run(pid, { port, connections, requests: posts('/v1/verify', key, bodies), seconds });
};

async function warm(engine: Engine, loader: Loader, url?: string): Promise<Figure[]> {
  const service = await startWarm(url);
  const addresses = emails(WARM);
  await singleCalls(loader, service, CONNECTIONS);
  await runList(service, 'mx', addresses);
  const { list, single } = await interleave<'list' | 'single', Pick<ListSample, 'perSecond' | 'cpuMicros'>>(ROUNDS, {
    list: () => runList(service, 'mx', addresses),
    single: () => singleCalls(loader, service, CONNECTIONS),
  });
  const alone = await interleave(ROUNDS, {
    beside: () => besideList(loader, service, addresses),
    alone: () => singleCalls(loader, service, BESIDE_CONNECTIONS),
  });
  await service.stop();
  const [rates, calls] = [list.map((s) => s.perSecond), single.map((s) => s.perSecond)];
  const [cpu, callCpu] = [list.map((s) => s.cpuMicros), single.map((s) => s.cpuMicros)];
  const [beside, before] = [alone.beside.map((s) => s.p99), alone.alone.map((s) => s.p99)];
  const [rate, slower] = [median(rates), medianRatio(beside, before)];
  return [
    {
      what: `${engine}: addresses per second, names cached, with the upload`,
      value: number(rate),
      floor: number(median(calls)),
      ratio: ratio(medianRatio(rates, calls)),
      aim: {
        text: `≥ ${AIM.perSecond[engine].toLocaleString('en-US')}`,
        met: rate >= AIM.perSecond[engine],
      },
    },
    {
      what: `${engine}: CPU of the service per address`,
      value: `${number(median(cpu))} µs`,
      floor: `${number(median(callCpu))} µs`,
      ratio: ratio(medianRatio(cpu, callCpu)),
    },
    {
      what: `${engine}: single calls beside a list, 99th percentile; the floor is without the list`,
      value: `${number(median(beside))} ms`,
      floor: `${number(median(before))} ms`,
      ratio: ratio(slower),
      aim: { text: `≤ ${AIM.beside}`, met: slower <= AIM.beside },
    },
  ];
}

/** Single calls while a list runs from their beginning to their end. */
async function besideList(loader: Loader, service: Service, addresses: readonly string[]) {
  let isOver = false;
  const list = runList(service, 'mx', [...addresses, ...addresses.map((email) => `x${email}`)], () => isOver);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const calls = await singleCalls(loader, service, BESIDE_CONNECTIONS);
  isOver = true;
  await list;
  return calls;
}

/**
 * Every address at a name that was never asked about. The floors ask the same server: the engine alone, without
 * uploads, charges or results, and bare questions.
 */
async function cold(): Promise<Figure[]> {
  const ground = await prepareGround();
  const { key } = await ground.account();
  const nsd = await startNameServer();
  const dns = nsd?.port ?? ground.dns;
  const more = { MAILVET_DNS_SERVERS: `127.0.0.1:${dns}`, MAILVET_DNS_CONTROL_NAMES: `control.${WILDCARD}` };
  const { pid, port, stop } = await startService(ground, SERVE, more);
  const { fresh, resolve, raw, close } = coldNames(dns, COLD);
  const mails = () => fresh().map((name) => `jane@${name}`);
  const list = async () => (await runList({ pid, port, key }, 'mx', mails())).perSecond;
  await interleave(1, { list, resolve, raw });
  const samples = await interleave(ROUNDS, { list, resolve, raw });
  await close();
  await stop();
  await nsd?.stop();
  await ground.clear();
  const figure = (floor: string, rates: readonly number[]): Figure => ({
    what: `Addresses per second, each at a new domain; the floor is ${floor}`,
    value: number(median(samples.list)),
    floor: number(median(rates)),
    ratio: ratio(medianRatio(samples.list, rates)),
  });
  return [figure('the engine alone, without a store', samples.resolve), figure('a bare query for each', samples.raw)];
}

/**
 * Without lists, a client calls for each address, with as many calls open as there may be dialogues; so does the first
 * floor. The second one is the mailbox check alone, without requests, charges or results, a session for each recipient.
 */
async function mailboxes(loader: Loader): Promise<Figure[]> {
  const sink = await startSink(SHARED_HOSTS);
  if (sink === null) return [];
  const ground = await prepareGround();
  const { key } = await ground.account();
  const { pid, port, stop } = await startService(ground, SERVE, {
    MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    MAILVET_SMTP_PORT: `${sink.port}`,
    MAILVET_SMTP_RATE_PER_OPERATOR: '0',
  });
  const prober = await startProber();
  const load = {
    port: sink.port,
    addresses: SHARED_HOSTS,
    domains: 1000,
    open: 500,
    connectionsPerHost: SMTP_CONNECTIONS_PER_HOST.default,
  };
  const addresses = Array.from(
    { length: MAILBOXES },
    (_, i) => `jane${i}@d${i % load.domains}.${sharedDomain(i % SHARED_HOSTS.length)}`,
  );
  const calls = {
    port,
    connections: load.connectionsPerHost * SHARED_HOSTS.length,
    seconds: SECONDS,
    requests: posts(
      '/v1/verify',
      key,
      addresses.map((email) => ({ email, validation_type: 'smtp' })),
    ),
  };
  const contestants = {
    list: async () => (await runList({ pid, port, key }, 'smtp', addresses)).perSecond,
    calls: async () => (await loader.run(pid, calls)).perSecond,
    check: async () =>
      (await prober.run({ ...load, who: 'check', count: MAILBOXES / 2, recipientsPerSession: 1 })).perSecond,
  };
  await interleave(1, contestants);
  const samples = await interleave(ROUNDS, contestants);
  await prober.end();
  await stop();
  await ground.clear();
  await sink.stop();
  const gain = medianRatio(samples.list, samples.calls);
  return [
    {
      what: 'Mailboxes per second; the floor is a single call for each',
      value: number(median(samples.list)),
      floor: number(median(samples.calls)),
      ratio: ratio(gain),
      aim: { text: `≥ ${AIM.mailboxes}`, met: gain >= AIM.mailboxes },
    },
    {
      what: 'Mailboxes per second; the floor is the check alone, a session for each',
      value: number(median(samples.list)),
      floor: number(median(samples.check)),
      ratio: ratio(medianRatio(samples.list, samples.check)),
    },
  ];
}

async function million(): Promise<Figure[]> {
  const service = await startWarm();
  await runList(service, 'mx', emails(WARM / 10));
  const rest = residentMb(service.pid);
  const sample: ListSample = await runList(service, 'mx', emails(MILLION));
  await service.stop();
  const grown = sample.peakMb - rest;
  return [
    {
      what: 'A million rows: RSS at most; the floor is before the upload',
      value: `${number(sample.peakMb)} MB`,
      floor: `${number(rest)} MB`,
      ratio: ratio(sample.peakMb / rest),
      aim: { text: `≤ ${AIM.grownMb} MB more`, met: grown <= AIM.grownMb },
    },
    {
      what: 'A million rows: from the start to the first results',
      value: `${number(sample.firstSeconds)} s`,
      aim: { text: `≤ ${AIM.firstSeconds} s`, met: sample.firstSeconds <= AIM.firstSeconds },
    },
    { what: 'A million rows: addresses per second, with the upload', value: number(sample.perSecond) },
  ];
}

export const lists: Bench = {
  name: 'lists',
  title: 'Lists',
  async run() {
    ensureBuilt();
    const loader = await startLoader();
    const figures = await warm('SQLite', loader);
    const why = whyNoPostgres();
    if (why === null) {
      const postgres = await startServedPostgres();
      figures.push(...(await warm('PostgreSQL', loader, postgres.url)));
      await postgres.stop();
    }
    figures.push(...(await cold()));
    const checked = await mailboxes(loader);
    await loader.end();
    figures.push(...checked, ...(await million()));
    const leftOut = [
      ...(why === null ? [] : [`PostgreSQL, because ${why}.`]),
      ...(checked.length > 0 ? [] : [NO_SINK]),
    ];
    return { how: HOW, figures, leftOut };
  },
};

const HOW =
  `CSV files of two columns, uploaded and verified to the last result; ${ROUNDS} rounds. Cached names: ` +
  `${WARM.toLocaleString('en-US')} addresses over ${DOMAINS.length} domains, level mx; the floor is single calls over ` +
  `${CONNECTIONS} connections to the same service. Beside a list: ${BESIDE_CONNECTIONS} connections. New domains: ` +
  `${COLD.toLocaleString('en-US')} addresses, answered by NSD where it is installed, as for the floors. Mailboxes: ` +
  `${MAILBOXES.toLocaleString('en-US')} at ${SHARED_HOSTS.length} hosts (smtp-sink on loopback), ` +
  `${SMTP_CONNECTIONS_PER_HOST.default} connections to each, no rate limit; single calls over as many connections. ` +
  `Load, DNS, PostgreSQL and smtp-sink run on the same cores. ${SERVED_POSTGRES}`;
