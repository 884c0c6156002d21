/**
 * The service on a big store: its start, and verifications while people use the dashboard and while rows are purged.
 */
import { DAY_MS, systemClock } from '../../src/kernel/clock.ts';
import { openStore } from '../../src/store/open.ts';
import type { AccountId, Store } from '../../src/store/store.ts';
import { BIG } from './big-store.ts';
import { type Activity, useDashboard } from './dashboard-use.ts';
import { type Loader, posts, startLoader } from './load.ts';
import { interleave, median, medianRatio } from './measure.ts';
import { emails } from './names.ts';
import { type Figure, number, ratio } from './results.ts';
import { prepareGround, startService, verifyOnce } from './service.ts';

export const STARTS = 3;
const START_AIM_MS = 1_000;
/** "A purge, page or export raises the 99th percentile by less than half." */
const P99_AIM = 1.5;
export const CONNECTIONS = 32;
const ROUNDS = 5;
/** Of a sample, seconds. */
const SECONDS = 1;
const WARM_UP_SECONDS = 4;
/** Enough for a round of the purge and the pause before the next one. */
const PURGE_SAMPLES = 75;
const PURGED_DAYS = 1;
const READ_WITHIN_MS = 5_000;

type Ground = Awaited<ReturnType<typeof prepareGround>>;
type Service = Awaited<ReturnType<typeof startService>>;
interface Subject {
  readonly engine: string;
  readonly url: string;
  readonly account: AccountId;
  readonly key: string;
}

async function starts(engine: string, ground: Ground): Promise<Figure> {
  const empty = await prepareGround();
  await empty.account();
  const start = async (of: Ground) => {
    const began = performance.now();
    const service = await startService(of);
    const took = performance.now() - began;
    await service.stop();
    return took;
  };
  // The first start fills the compile cache.
  await start(empty);
  const { ours, theirs } = await interleave(STARTS, { ours: () => start(ground), theirs: () => start(empty) });
  await empty.clear();
  const took = median(ours);
  return {
    what: `${engine}: start until the port is open`,
    value: `${number(took)} ms`,
    floor: `${number(median(theirs))} ms`,
    ratio: ratio(medianRatio(ours, theirs)),
    aim: { text: `≤ ${START_AIM_MS} ms`, met: took <= START_AIM_MS },
  };
}

const p99 = (engine: string, what: string, busy: number, quiet: number, aim: number | null = P99_AIM): Figure => ({
  what: `${engine}: 99th percentile of a verification ${what}`,
  value: `${number(busy)} ms`,
  floor: `${number(quiet)} ms`,
  ratio: ratio(busy / quiet),
  ...(aim === null ? {} : { aim: { text: `≤ ${aim}`, met: busy / quiet <= aim } }),
});

/** Verifies for some seconds; returns the 99th percentile, ms. */
type Verify = (seconds: number) => Promise<number>;

function verifier(loader: Loader, { pid, port }: Service, key: string): Verify {
  const bodies = emails(2048).map((email) => ({ email }));
  const requests = posts('/v1/verify', key, bodies);
  return async (seconds) => (await loader.run(pid, { port, connections: CONNECTIONS, requests, seconds })).p99;
}

async function dashboard(subject: Subject, store: Store, service: Service, verify: Verify): Promise<Figure[]> {
  const { engine, account } = subject;
  const use = await useDashboard(`http://127.0.0.1:${service.port}`, store, account);
  const began = performance.now();
  const octets = await use.download();
  const downloaded = performance.now();
  await use.importFilters(BIG.filters);
  const imported = performance.now();
  const during = (activity: Activity) => async () => {
    const end = new AbortController();
    const work = activity(end.signal);
    const [percentile] = await Promise.all([verify(SECONDS).finally(() => end.abort()), work]);
    if ((await work) === 0) throw new Error('Nothing was done meanwhile.');
    return percentile;
  };
  const samples = await interleave(ROUNDS, {
    quiet: () => verify(SECONDS),
    pages: during(use.pages),
    exports: during(use.exports),
    imports: during(use.imports),
  });
  const quiet = median(samples.quiet);
  return [
    { what: `${engine}: filters.csv, ${number(octets / 1e6)} MB`, value: `${number(downloaded - began)} ms` },
    {
      what: `${engine}: import of ${BIG.filters.toLocaleString('en-US')} more filters`,
      value: `${number(imported - downloaded)} ms`,
    },
    p99(engine, 'while somebody looks at pages', median(samples.pages), quiet),
    p99(engine, 'during exports', median(samples.exports), quiet),
    p99(engine, 'during imports of filters', median(samples.imports), quiet, null),
  ];
}

/** A purge deletes so many rows in a round and pauses between rounds: samples with and without it, as they come. */
async function purge(subject: Subject, store: Store, verify: Verify): Promise<Figure> {
  /** By how much the oldest row is past its retention, ms: falls while a purge deletes. */
  const lag = async () => (await store.stats.read(PURGED_DAYS * DAY_MS, READ_WITHIN_MS)).purgeLagMs;
  await verify(WARM_UP_SECONDS);
  const [purging, quiet]: [number[], number[]] = [[], []];
  for (let samples = 0; purging.length < ROUNDS || quiet.length < ROUNDS; samples += 1) {
    if (samples === PURGE_SAMPLES) throw new Error(`The purge ran in ${purging.length} of ${samples} samples.`);
    const before = await lag();
    const percentile = await verify(SECONDS);
    ((await lag()) < before ? purging : quiet).push(percentile);
  }
  return p99(subject.engine, 'during a purge', median(purging), median(quiet));
}

export async function measureService(subject: Subject): Promise<Figure[]> {
  const ground = await prepareGround(subject.url);
  const store = await openStore({ url: subject.url, clock: systemClock });
  const loader = await startLoader();
  async function withService<T>(retentionDays: number, use: (service: Service, verify: Verify) => Promise<T>) {
    const service = await startService(ground, undefined, { MAILVET_RETENTION_DAYS: `${retentionDays}` });
    await verifyOnce(service.port, subject.key, emails(1)[0] ?? '');
    const result = await use(service, verifier(loader, service, subject.key));
    await service.stop();
    return result;
  }
  // First, while no job waits for its next round: the purge begins with the service.
  const figures = [await withService(PURGED_DAYS, (_, verify) => purge(subject, store, verify))];
  figures.push(
    await starts(subject.engine, ground),
    ...(await withService(BIG.days + 1, async (service, verify) => {
      await verify(WARM_UP_SECONDS);
      return dashboard(subject, store, service, verify);
    })),
  );
  await loader.end();
  await store.close();
  await ground.clear();
  return figures;
}
