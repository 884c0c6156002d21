/** PostgreSQL: several nodes that charge one account, and a node that is far from its server. */
import pg from 'pg';
import { whyNoPostgres } from '../tests/lab/postgres.ts';
import { startPartner } from './apparatus/children.ts';
import type { Delay } from './apparatus/delay-process.ts';
import { type Loader, type LoadReport, posts, startLoader } from './apparatus/load.ts';
import { cpuSeconds, interleave, median, medianRatio } from './apparatus/measure.ts';
import { DOMAINS, emails } from './apparatus/names.ts';
import { serverCpuSeconds, serverPid } from './apparatus/postgres-cpu.ts';
import { SERVED_POSTGRES, startServedPostgres } from './apparatus/postgres-server.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';
import { ensureBuilt, prepareGround, startService, verifyOnce } from './apparatus/service.ts';

const NODES = 4;
const CONNECTIONS = 16;
const ROUNDS = 5;
const SECONDS = 2;
const WARM_UP = { requests: 10_000, seconds: 5 };
const NODES_AIM = 1.25;

const FAR_CONNECTIONS = 8;
/** ms; of each direction half. */
const FAR_ROUND_TRIP = 20;
/** Requests per second. */
const FAR_AIM = 312;

type Service = Awaited<ReturnType<typeof startService>>;
type Ground = Awaited<ReturnType<typeof prepareGround>>;

async function startReady(ground: Ground, key: string): Promise<Service> {
  const service = await startService(ground);
  for (const domain of DOMAINS) await verifyOnce(service.port, key, `jane.doe1@${domain}`);
  return service;
}

/** One account on several nodes: CPU of nodes and server per request. */
async function nodes(url: string): Promise<Figure[]> {
  const ground = await prepareGround(url);
  const { key } = await ground.account();
  const requests = posts(
    '/v1/verify',
    key,
    emails(2048).map((email) => ({ email })),
  );
  const pid = await serverPid(url);
  const all: { service: Service; loader: Loader }[] = [];
  for (let i = 0; i < NODES; i += 1) all.push({ service: await startReady(ground, key), loader: await startLoader() });
  const load = async (some: typeof all, seconds: number, count?: number) => {
    const cpu = () => some.reduce((sum, { service }) => sum + cpuSeconds(service.pid), serverCpuSeconds(pid));
    const before = cpu();
    const each = some.map(({ service, loader }): Promise<LoadReport> => {
      const work = { port: service.port, connections: CONNECTIONS, requests, seconds };
      return loader.run(service.pid, count === undefined ? work : { ...work, count });
    });
    const reports = await Promise.all(each);
    const answered = reports.reduce((sum, report) => sum + report.requests, 0);
    return { cpuMicros: ((cpu() - before) * 1e6) / answered, perSecond: answered / seconds };
  };
  for (const one of all) await load([one], WARM_UP.seconds, WARM_UP.requests);
  const samples = await interleave(ROUNDS, {
    all: () => load(all, SECONDS),
    one: () => load(all.slice(0, 1), SECONDS),
  });
  for (const { service, loader } of all) {
    await service.stop();
    await loader.end();
  }
  await ground.clear();
  const [several, alone] = [samples.all.map((s) => s.cpuMicros), samples.one.map((s) => s.cpuMicros)];
  const value = medianRatio(several, alone);
  return [
    {
      what: `${NODES} nodes, one account: CPU of nodes and server per request; the floor is one node`,
      value: `${number(median(several))} µs`,
      floor: `${number(median(alone))} µs`,
      ratio: ratio(value),
      aim: { text: `≤ ${NODES_AIM}`, met: value <= NODES_AIM },
    },
  ];
}

/** Connections that each run one statement after the other which does nothing, for a second; statements per second. */
async function statements(url: string, connections: number): Promise<number> {
  const clients = Array.from({ length: connections }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  const began = performance.now();
  let done = 0;
  const repeat = async (client: pg.Client) => {
    for (; performance.now() - began < 1000; done += 1) await client.query('SELECT 1');
  };
  await Promise.all(clients.map(repeat));
  const perSecond = (done * 1000) / (performance.now() - began);
  await Promise.all(clients.map((client) => client.end()));
  return perSecond;
}

/** A node with a network between it and the server; the floor is an empty statement on as many connections. */
async function far(url: string): Promise<Figure[]> {
  const network = await startPartner('delay-process.ts');
  const port = await network.ask<number>({ port: Number(new URL(url).port), ms: FAR_ROUND_TRIP / 2 } satisfies Delay);
  const through = new URL(url);
  through.port = `${port}`;
  const ground = await prepareGround(through.href);
  const { key } = await ground.account();
  const service = await startReady(ground, key);
  const loader = await startLoader();
  const requests = posts(
    '/v1/verify',
    key,
    emails(2048).map((email) => ({ email })),
  );
  const load = () =>
    loader.run(service.pid, { port: service.port, connections: FAR_CONNECTIONS, requests, seconds: SECONDS });
  await load();
  const samples = await interleave(ROUNDS, {
    verify: async () => (await load()).perSecond,
    floor: () => statements(through.href, FAR_CONNECTIONS),
  });
  await service.stop();
  await loader.end();
  await ground.clear();
  await network.end();
  const value = median(samples.verify);
  return [
    {
      what: `${FAR_ROUND_TRIP} ms between node and server, ${FAR_CONNECTIONS} connections: requests per second`,
      value: number(value),
      floor: number(median(samples.floor)),
      ratio: ratio(medianRatio(samples.verify, samples.floor)),
      aim: { text: `≥ ${FAR_AIM}`, met: value >= FAR_AIM },
    },
  ];
}

export const postgresNodes: Bench = {
  name: 'postgres',
  title: 'PostgreSQL, several nodes and far ones',
  async run() {
    ensureBuilt();
    const why = whyNoPostgres();
    const figures: Figure[] = [];
    for (const measure of why === null ? [nodes, far] : []) {
      const server = await startServedPostgres();
      figures.push(...(await measure(server.url)));
      await server.stop();
    }
    return {
      how:
        `POST /v1/verify at the mx level, DNS answers cached, every reply charged and on disk. Nodes: ${CONNECTIONS} ` +
        `connections each, everything on the same cores. Far: a proxy delivers ${FAR_ROUND_TRIP / 2} ms later in each direction; the floor ` +
        `is an empty statement on as many connections. ${ROUNDS} rounds of ${SECONDS} s. ${SERVED_POSTGRES}`,
      figures,
      leftOut: why === null ? [] : [`Everything, because ${why}.`],
    };
  },
};
