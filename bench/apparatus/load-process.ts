/**
 * The load generator: keep-alive connections that each send the next prepared request as soon as they have the previous
 * reply. Uses raw sockets and parses only the status and the end of a reply, so that on a machine with two cores the
 * server has one of them.
 */
import { connect, type Socket } from 'node:net';
import { answer } from './children.ts';
import type { Load, LoadReport } from './load.ts';

const MOST_SAMPLES = 4_000_000;
const LENGTH = 'content-length: ';

/** Length of the reply at the start of `data`, or null if its head is incomplete. */
function replyLength(data: Buffer): number | null {
  const head = data.indexOf('\r\n\r\n');
  if (head === -1) return null;
  const text = data.toString('latin1', 0, head).toLowerCase();
  const at = text.indexOf(LENGTH);
  if (at === -1) throw new Error(`a reply without Content-Length:\n${text}`);
  return head + 4 + Number.parseInt(text.slice(at + LENGTH.length, at + LENGTH.length + 10), 10);
}

async function run(load: Load): Promise<LoadReport> {
  const requests = load.requests.map((request) => Buffer.from(request, 'latin1'));
  const samples = new Float64Array(MOST_SAMPLES);
  let [sent, done, failures] = [0, 0, 0];
  let firstFailure: string | null = null;
  const most = load.count ?? MOST_SAMPLES;
  const began = performance.now();
  const until = began + load.seconds * 1000;

  const drive = (socket: Socket, finish: () => void): void => {
    let had: Buffer | null = null;
    let at = 0;
    const next = (): void => {
      at = performance.now();
      if (sent >= most || at >= until) {
        socket.destroy();
        finish();
        return;
      }
      socket.write(requests[sent++ % requests.length]!);
    };
    socket.on('data', (chunk) => {
      const data = had === null ? chunk : Buffer.concat([had, chunk]);
      const length = replyLength(data);
      if (length === null || data.length < length) {
        had = data;
        return;
      }
      had = null;
      samples[done++] = performance.now() - at;
      // "HTTP/1.1 200"
      if (data[9] !== 0x32) {
        failures += 1;
        firstFailure ??= data.toString('latin1', 0, 2000);
      }
      next();
    });
    next();
  };

  await Promise.all(
    Array.from({ length: load.connections }, async () => {
      const socket = connect(load.port, '127.0.0.1');
      socket.setNoDelay(true);
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.once('close', () => reject(new Error('the server closed a connection')));
        socket.once('connect', () => drive(socket, resolve));
      });
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const sorted = samples.subarray(0, done).sort();
  return {
    requests: done,
    perSecond: done / seconds,
    p50: sorted[done >> 1] ?? 0,
    p99: sorted[Math.floor(done * 0.99)] ?? 0,
    failures,
    firstFailure,
  };
}

answer<Load>(run);
