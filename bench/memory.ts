/** Memory of the service when idle and after many verifications, to detect leaks. */
import { freePort } from './apparatus/children.ts';
import { type Heap, openHeap } from './apparatus/heap.ts';
import { posts, startLoader } from './apparatus/load.ts';
import { residentMb } from './apparatus/measure.ts';
import { DOMAINS, emails } from './apparatus/names.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';
import { ensureBuilt, prepareGround, SERVE, startFloor, startService, verifyOnce } from './apparatus/service.ts';

const CONNECTIONS = 64;
const MARKS = [20_000, 100_000, 200_000];
/** Accepted growth from the first mark to the last; below is allocator noise. */
const AIM = 1.05;
/** Of RSS after the last mark. */
const MOST_MB = 200;
const SETTLE_MS = 1500;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

type Service = Awaited<ReturnType<typeof startService>>;

export const memory: Bench = {
  name: 'memory',
  title: 'Memory',
  async run() {
    ensureBuilt();
    const floor = await startFloor(900);
    const floorMb = await idleFloor(floor);
    await floor.stop();
    // An inspector takes some 10 MB itself, so the heap has a run of its own.
    const resident = await load(SERVE, ({ pid }) => residentMb(pid));
    const port = await freePort();
    const inspect = [`--inspect=127.0.0.1:${port}`, '--inspect-publish-uid=http'];
    const inspector: { heap?: Heap } = {};
    const heap = await load(
      [...inspect, ...SERVE],
      async () => {
        inspector.heap ??= await openHeap(port);
        return inspector.heap.usedMb();
      },
      () => inspector.heap?.close(),
    );
    return { how: HOW, figures: figures(resident, heap, floorMb) };
  },
};

/**
 * What `look` reads at rest, and after each of MARKS. The service does not end while an inspector is attached:
 * `detach`.
 */
async function load(
  args: readonly string[],
  look: (service: Service) => number | Promise<number>,
  detach = () => {},
): Promise<number[]> {
  const ground = await prepareGround();
  const { key } = await ground.account();
  const service = await startService(ground, args);
  for (const domain of DOMAINS) await verifyOnce(service.port, key, `jane@${domain}`);
  const seen: number[] = [];
  const read = async () => {
    await pause(SETTLE_MS);
    seen.push(await look(service));
  };
  await read();
  const loader = await startLoader();
  const requests = posts(
    '/v1/verify',
    key,
    emails(8192).map((email) => ({ email })),
  );
  let done = 0;
  for (const mark of MARKS) {
    const batch = { port: service.port, connections: CONNECTIONS, requests, seconds: 120, count: mark - done };
    done += (await loader.run(service.pid, batch)).requests;
    await read();
  }
  detach();
  await loader.end();
  await service.stop();
  await ground.clear();
  return seen;
}

async function idleFloor(floor: Service): Promise<number> {
  await verifyOnce(floor.port, '', 'jane@gmail.com');
  await pause(SETTLE_MS);
  return residentMb(floor.pid);
}

const HOW =
  `RSS of the idle service, with bare node:http as the floor, and after verifications over ${CONNECTIONS} ` +
  'connections; in a second run, the V8 heap in use after a full collection. The caches of SQLite fill up in the meantime ' +
  '(4 MB at most for each of two connections).';

function figures(resident: readonly number[], heap: readonly number[], floorMb: number): Figure[] {
  const [rest, first] = resident as [number, number];
  const last = resident.at(-1)!;
  const [, firstHeap] = heap as [number, number];
  const heapGrowth = heap.at(-1)! / firstHeap;
  const mb = (value: number) => `${number(value)} MB`;
  return [
    { what: 'Idle', value: mb(rest), floor: mb(floorMb), ratio: ratio(rest / floorMb) },
    { what: 'Idle, heap in use', value: mb(heap[0]!) },
    ...MARKS.map((mark, i) => ({
      what: `After ${mark.toLocaleString('en-US')} verifications`,
      value: `${mb(resident[i + 1]!)}, heap ${mb(heap[i + 1]!)}`,
    })),
    {
      what: 'RSS, last of these relative to the first',
      value: '',
      ratio: ratio(last / first),
      aim: { text: `≤ ${MOST_MB} MB`, met: last <= MOST_MB },
    },
    {
      what: 'Heap, last of these relative to the first',
      value: '',
      ratio: ratio(heapGrowth),
      aim: { text: `≤ ${AIM}`, met: heapGrowth <= AIM },
    },
  ];
}
