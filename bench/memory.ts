/** Memory of the service when idle and after many verifications, to detect leaks. */
import { freePort } from './apparatus/children.ts';
import { type Heap, openHeap } from './apparatus/heap.ts';
import { posts, startLoader } from './apparatus/load.ts';
import { residentMb } from './apparatus/measure.ts';
import { DOMAINS, emails } from './apparatus/names.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';
import { COMMAND, ensureBuilt, prepareGround, startFloor, startService, verifyOnce } from './apparatus/service.ts';

const CONNECTIONS = 64;
const MARKS = [20_000, 100_000, 200_000];
/** Accepted growth from the first mark to the last; below is allocator noise. */
const AIM = 1.05;
/** Of RSS after the last mark. */
const MOST_MB = 200;
const SETTLE_MS = 1500;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Mark {
  readonly resident: number;
  /** V8 heap in use after a full collection, MB. */
  readonly heap: number;
}

export const memory: Bench = {
  name: 'memory',
  title: 'Memory',
  async run() {
    ensureBuilt();
    const ground = await prepareGround();
    const { key } = await ground.account();
    const inspector = await freePort();
    const inspect = [`--inspect=127.0.0.1:${inspector}`, '--inspect-publish-uid=http'];
    const service = await startService(ground, [...inspect, COMMAND, 'serve']);
    const floor = await startFloor(900);
    await verifyOnce(floor.port, key, 'jane@gmail.com');
    for (const domain of DOMAINS) await verifyOnce(service.port, key, `jane@${domain}`);
    const heap: Heap = await openHeap(inspector);
    const look = async (): Promise<Mark> => {
      await pause(SETTLE_MS);
      const resident = residentMb(service.pid);
      return { resident, heap: await heap.usedMb() };
    };
    const marks = [await look()];
    const loader = await startLoader();
    const requests = posts(
      '/v1/verify',
      key,
      emails(8192).map((email) => ({ email })),
    );
    let done = 0;
    for (const mark of MARKS) {
      const load = { port: service.port, connections: CONNECTIONS, requests, seconds: 120, count: mark - done };
      done += (await loader.run(service.pid, load)).requests;
      marks.push(await look());
    }
    const floorMb = residentMb(floor.pid);
    heap.close();
    await loader.end();
    await service.stop();
    await floor.stop();
    await ground.clear();
    return { how: HOW, figures: figures(marks, floorMb) };
  },
};

const HOW =
  `RSS of the idle service, with bare node:http as the floor, and after verifications over ${CONNECTIONS} ` +
  'connections; also the V8 heap in use after a full collection. The caches of SQLite fill up in the meantime ' +
  '(8 MB at most for each of two connections).';

function figures(marks: readonly Mark[], floorMb: number): Figure[] {
  const [rest, first, ...more] = marks as [Mark, Mark, ...Mark[]];
  const last = more.at(-1)!;
  const mb = (value: number) => `${number(value)} MB`;
  const grown = { resident: last.resident / first.resident, heap: last.heap / first.heap };
  const after = (mark: Mark, i: number): Figure => ({
    what: `After ${MARKS[i]!.toLocaleString('en-US')} verifications`,
    value: `${mb(mark.resident)}, heap ${mb(mark.heap)}`,
  });
  return [
    { what: 'Idle', value: mb(rest.resident), floor: mb(floorMb), ratio: ratio(rest.resident / floorMb) },
    { what: 'Idle, heap in use', value: mb(rest.heap) },
    ...marks.slice(1).map(after),
    {
      what: 'RSS, last of these relative to the first',
      value: '',
      ratio: ratio(grown.resident),
      aim: { text: `≤ ${MOST_MB} MB`, met: last.resident <= MOST_MB },
    },
    {
      what: 'Heap, last of these relative to the first',
      value: '',
      ratio: ratio(grown.heap),
      aim: { text: `≤ ${AIM}`, met: grown.heap <= AIM },
    },
  ];
}
