/** Child processes of a benchmark, so that the measured code has its own thread. They end with the benchmark. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Kills `child` when the bench ends, however it ends. */
export function keep<T extends ChildProcess>(child: T): T {
  living.add(child);
  child.once('exit', () => living.delete(child));
  return child;
}

export interface Partner {
  readonly pid: number;
  /** Sends a message and waits for the reply; one at a time. */
  ask<T>(message: unknown): Promise<T>;
  end(): Promise<void>;
}

/** Starts a module of this folder that replies to messages. */
export async function startPartner(file: string): Promise<Partner> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = keep(fork(path, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' }));
  await once(child, 'message');
  return {
    pid: child.pid!,
    async ask(message) {
      const gone = new AbortController();
      const ended = once(child, 'exit', { signal: gone.signal }).then(() => {
        throw new Error(`${file} ended before it answered`);
      });
      child.send(message as object);
      const answered = once(child, 'message').then(([answer]) => answer);
      const answer = await Promise.race([answered, ended]);
      ended.catch(() => {});
      gone.abort();
      return answer;
    },
    async end() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

/**
 * In the child: reports that it is ready, replies to every message, and ends with the benchmark. Elsewhere, nothing:
 * the benchmark may import what its child exports.
 */
export function answer<T>(handle: (message: T) => Promise<unknown>): void {
  if (process.send === undefined) return;
  process.on('disconnect', () => process.exit(0));
  process.on('message', (message) => {
    handle(message as T).then(
      (reply) => process.send?.(reply),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
  process.send('ready');
}

/** A free loopback port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
