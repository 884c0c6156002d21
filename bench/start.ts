/** Time from spawning the service to its first replies, relative to bare node:http. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort, keep } from './apparatus/children.ts';
import { posts } from './apparatus/load.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';
import { BUILT, COMMAND, ensureBuilt, floorArguments, prepareGround, SOURCES } from './apparatus/service.ts';

const ROUNDS = 11;
const AIM = 4.5;
const POLL_MS = 1;
const FLOOR_OCTETS = 900;

/** Repeats `request` until the reply is 200; returns the time of the reply. */
async function firstGood(port: number, request: string): Promise<number> {
  for (;;) {
    const good = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(request));
      socket.once('error', () => resolve(false));
      socket.once('data', (data: Buffer) => {
        resolve(data.toString('latin1', 0, 12) === 'HTTP/1.1 200');
        socket.destroy();
      });
    });
    if (good) return performance.now();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

interface Start {
  /** Milliseconds from the spawn to the first 200. */
  readonly health: number;
  readonly verdict: number;
}

async function start(
  args: readonly string[],
  environment: object,
  port: number,
  requests: readonly string[],
  how: NodeJS.Signals,
): Promise<Start> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_NO_WARNINGS: '1', ...environment };
  const began = performance.now();
  const child = keep(spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] }));
  const [health = 0, verdict = 0] = [
    await firstGood(port, requests[0]!),
    requests[1] === undefined ? 0 : await firstGood(port, requests[1]),
  ];
  const exited = once(child, 'exit');
  child.kill(how);
  await exited;
  return { health: health - began, verdict: verdict - began };
}

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

export const startUp: Bench = {
  name: 'start',
  title: 'Start',
  async run() {
    ensureBuilt();
    const ground = await prepareGround();
    const { key } = await ground.account();
    const requests = [HEALTH, ...posts('/v1/verify', key, [{ email: 'jane@gmail.com' }])];
    const contestants = (how: NodeJS.Signals) => {
      const service = async (program: string) => {
        const port = await freePort();
        return start([program, 'serve'], ground.environment(port), port, requests, how);
      };
      return {
        floor: async () => {
          const port = await freePort();
          return start(floorArguments(port, FLOOR_OCTETS), {}, port, [HEALTH], how);
        },
        built: () => service(BUILT),
        command: () => service(COMMAND),
        sources: () => service(SOURCES),
      };
    };
    // Warms the page cache and the command's compile cache, which is written at a clean exit.
    await interleave(1, contestants('SIGTERM'));
    const samples = await interleave(ROUNDS, contestants('SIGKILL'));
    await ground.clear();
    const floor = samples.floor.map(({ health }) => health);
    const row = (what: string, values: number[], aim = false): Figure => {
      const value = medianRatio(values, floor);
      return {
        what,
        value: `${number(median(values))} ms`,
        floor: `${number(median(floor))} ms`,
        ratio: ratio(value),
        ...(aim ? { aim: { text: `≤ ${AIM}`, met: value <= AIM } } : {}),
      };
    };
    const both = (what: string, starts: Start[], aim: boolean) => [
      row(
        `${what}: first 200 of /healthz`,
        starts.map((s) => s.health),
        aim,
      ),
      row(
        `${what}: first 200 of POST /v1/verify`,
        starts.map((s) => s.verdict),
      ),
    ];
    return {
      how:
        'From the spawn to the first 200, with an existing store and an empty DNS cache; the floor is the ' +
        `same for bare node:http. ${ROUNDS} rounds.`,
      figures: [
        ...both('`node dist/cli.js serve`', samples.built, true),
        ...both('`mailvet serve` (with its compile cache)', samples.command, true),
        ...both('from the sources', samples.sources, false),
      ],
    };
  },
};
