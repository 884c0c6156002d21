/** What another account notices while a few accounts do what costs much. */
import { Agent, request } from 'node:http';
import {
  ATTACKS,
  type Attack,
  type Attacker,
  type AttackOrder,
  type AttackReport,
} from './apparatus/attack-process.ts';
import { startPartner } from './apparatus/children.ts';
import { runList } from './apparatus/list-load.ts';
import { emails } from './apparatus/names.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';
import { ensureBuilt, prepareGround, startService, verifyOnce } from './apparatus/service.ts';

const SECONDS = 8;
const EVERY_MS = 10;
const ROWS = 20_000;
/** A share of a second passes until an attack is under way. */
const WARM_MS = 1_000;
const AIM_MS = { read: 250, verification: 100 };

/** Accounts that attack together. */
const ACCOUNTS: Readonly<Record<Attack, number>> = {
  searches: 6,
  'slow uploads': 8,
  'fast downloads': 3,
  'unread downloads': 6,
  mcp: 6,
};
const SAYS: Readonly<Record<Attack, string>> = {
  searches: '20 searches of a list’s rows at once',
  'slow uploads': '2 uploads in pieces of one octet',
  'fast downloads': '4 downloads of a list at once',
  'unread downloads': '4 downloads of a list that nobody reads',
  mcp: '2 messages of 250 KB at /mcp at once',
};

/** What comes of an attack that costs something. */
const EFFECTIVE: Readonly<Record<Attack, string>> = {
  searches: '200',
  'slow uploads': 'closed',
  'fast downloads': '200',
  'unread downloads': 'closed',
  mcp: '200',
};

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const percentile99 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;

/** Times of one call after the other over one connection, ms. */
async function probe(
  port: number,
  key: string,
  next: (n: number) => { path: string; body?: string },
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const once = ({ path, body }: { path: string; body?: string }) =>
    new Promise<number>((resolve, reject) => {
      const began = performance.now();
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const method = body === undefined ? 'GET' : 'POST';
      const call = request({ host: '127.0.0.1', port, path, method, headers, agent }, (reply) => {
        reply.resume().once('end', () => {
          if (reply.statusCode === 200) resolve(performance.now() - began);
          else reject(new Error(`${path} answered ${reply.statusCode}`));
        });
      });
      call.once('error', reject).end(body);
    });
  const times: number[] = [];
  const until = performance.now() + SECONDS * 1000;
  for (let n = 0; performance.now() < until; n++) {
    times.push(await once(next(n)));
    await pause(EVERY_MS);
  }
  agent.destroy();
  return times;
}

interface Times {
  readonly read: number;
  readonly verification: number;
}

/** 99th percentiles of what another account notices, both kinds at the same time. */
async function notice(port: number, key: string): Promise<Times> {
  const addresses = emails(512);
  const [reads, verifications] = await Promise.all([
    probe(port, key, () => ({ path: '/v1/usage' })),
    probe(port, key, (n) => ({
      path: '/v1/verify',
      body: JSON.stringify({ email: addresses[n % addresses.length] }),
    })),
  ]);
  return { read: percentile99(reads), verification: percentile99(verifications) };
}

async function measure(): Promise<Figure[]> {
  ensureBuilt();
  const ground = await prepareGround();
  const { key } = await ground.account();
  const service = await startService(ground);
  const who: Attacker[] = [];
  for (let n = 0; n < Math.max(...Object.values(ACCOUNTS)); n++) {
    const attacker = await ground.account();
    const list = await runList({ ...service, key: attacker.key }, 'mx', emails(ROWS));
    who.push({ key: attacker.key, list: list.id });
  }
  for (const email of emails(512)) await verifyOnce(service.port, key, email);
  const partner = await startPartner('attack-process.ts');
  const figures: Figure[] = [];
  for (const attack of ATTACKS) {
    const alone = await notice(service.port, key);
    await partner.ask({
      is: 'start',
      attack,
      port: service.port,
      who: who.slice(0, ACCOUNTS[attack]),
    } satisfies AttackOrder);
    await pause(WARM_MS);
    const beside = await notice(service.port, key);
    const statuses = await partner.ask<AttackReport>({ is: 'stop' } satisfies AttackOrder);
    if (!(EFFECTIVE[attack] in statuses)) throw new Error(`${attack} came to nothing: ${JSON.stringify(statuses)}`);
    for (const kind of ['read', 'verification'] as const)
      figures.push({
        what: `${ACCOUNTS[attack]} accounts, each ${SAYS[attack]}: ${kind}, p99`,
        value: `${number(beside[kind])} ms`,
        floor: `${number(alone[kind])} ms`,
        ratio: ratio(beside[kind] / alone[kind]),
        aim: { text: `≤ ${AIM_MS[kind]} ms`, met: beside[kind] <= AIM_MS[kind] },
      });
    await pause(WARM_MS);
  }
  await partner.end();
  await service.stop();
  await ground.clear();
  return figures;
}

export const neighbors: Bench = {
  name: 'neighbors',
  title: 'Beside accounts that do much',
  async run() {
    return {
      how:
        `SQLite; another account reads GET /v1/usage and verifies at the mx level for ${SECONDS} s, each over one ` +
        'connection with pauses of 10 ms, while others attack without a pause. The floor is the same without an attack.',
      figures: await measure(),
    };
  },
};
