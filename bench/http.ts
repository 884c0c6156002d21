/** POST /v1/verify at the mx level, DNS cached, every reply charged and on disk, against a server that does nothing. */
import { whyNoPostgres } from '../tests/lab/postgres.ts';
import { type Loader, type LoadSample, posts, startLoader } from './apparatus/load.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
import { DOMAINS, emails } from './apparatus/names.ts';
import { SERVED_POSTGRES, startServedPostgres } from './apparatus/postgres-server.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';
import { ensureBuilt, prepareGround, startFloor, startService, verifyOnce } from './apparatus/service.ts';

const CONNECTIONS = 64;
const ROUNDS = 7;
const SECONDS = 2;
/** Warm-up until hot code is optimized, or this long. */
const WARM_UP = { requests: 60_000, seconds: 20 };
const AIM = {
  perSecond: { SQLite: 0.33, PostgreSQL: 0.25 },
  /** 99th percentile relative to the median. */
  spread: 4,
};
type Engine = keyof (typeof AIM)['perSecond'];

async function against(loader: Loader, engine: Engine, url?: string): Promise<Figure[]> {
  const ground = await prepareGround(url);
  const { key } = await ground.account();
  const service = await startService(ground);
  let size = 0;
  for (const domain of DOMAINS) size = await verifyOnce(service.port, key, `jane.doe1@${domain}`);
  const floor = await startFloor(size);
  const bodies = emails(2048).map((email) => ({ email }));
  const requests = posts('/v1/verify', key, bodies);
  const load = (server: { pid: number; port: number }, seconds: number, count?: number) =>
    loader.run(server.pid, {
      port: server.port,
      connections: CONNECTIONS,
      requests,
      seconds,
      ...(count === undefined ? {} : { count }),
    });
  await load(service, WARM_UP.seconds, WARM_UP.requests);
  await load(floor, WARM_UP.seconds, WARM_UP.requests);
  const samples = await interleave(ROUNDS, {
    service: () => load(service, SECONDS),
    floor: () => load(floor, SECONDS),
  });
  await service.stop();
  await floor.stop();
  await ground.clear();
  return figures(engine, samples);
}

function figures(engine: Engine, samples: { service: LoadSample[]; floor: LoadSample[] }): Figure[] {
  const row = (what: string, field: 'perSecond' | 'cpuMicros' | 'p50' | 'p99', unit = '') => {
    const [ours, theirs] = [samples.service.map((s) => s[field]), samples.floor.map((s) => s[field])];
    const value = medianRatio(ours, theirs);
    const show = (values: number[]) => `${number(median(values))}${unit}`;
    return {
      figure: { what: `${engine}: ${what}`, value: show(ours), floor: show(theirs), ratio: ratio(value) },
      value,
    };
  };
  const [enough, { spread }] = [AIM.perSecond[engine], AIM];
  const found = median(samples.service.map(({ p50, p99 }) => p99 / p50));
  const perSecond = row('requests per second', 'perSecond');
  return [
    { ...perSecond.figure, aim: { text: `≥ ${enough}`, met: perSecond.value >= enough } },
    row('CPU of the server per request', 'cpuMicros', ' µs').figure,
    row('latency, median', 'p50', ' ms').figure,
    row('latency, 99th percentile', 'p99', ' ms').figure,
    {
      what: `${engine}: 99th percentile relative to the median`,
      value: '',
      ratio: ratio(found),
      aim: { text: `≤ ${spread}`, met: found <= spread },
    },
  ];
}

export const http: Bench = {
  name: 'http',
  title: 'POST /v1/verify',
  async run() {
    ensureBuilt();
    const loader = await startLoader();
    const found = await against(loader, 'SQLite');
    const why = whyNoPostgres();
    if (why === null) {
      const postgres = await startServedPostgres();
      found.push(...(await against(loader, 'PostgreSQL', postgres.url)));
      await postgres.stop();
    }
    await loader.end();
    return {
      how:
        `mx level, DNS answers cached, every reply charged and on disk before it is sent, ${CONNECTIONS} keep-alive ` +
        'connections; the floor is bare node:http that reads the body and returns JSON of the same size. ' +
        `${ROUNDS} rounds of ${SECONDS} s after ${WARM_UP.requests.toLocaleString('en-US')} warm-up requests. The load generator, the DNS server and PostgreSQL run on the same cores. ${SERVED_POSTGRES}`,
      figures: found,
      leftOut: why === null ? [] : [`PostgreSQL, because ${why}.`],
    };
  },
};
