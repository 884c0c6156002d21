/** smtp-sink(1), Postfix's SMTP server that accepts and discards everything, on loopback, if installed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { freePort, keep } from './children.ts';

const PROGRAM = '/usr/sbin/smtp-sink';
const BACKLOG = 1024;
const TRIES = 200;

/** Why a benchmark was skipped. */
export const NO_SINK = "smtp-sink is not installed (on Debian: in the package 'postfix').";

interface Sink {
  readonly port: number;
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** One process per address, all on the same port; null if smtp-sink is not installed. */
export async function startSink(addresses: readonly string[]): Promise<Sink | null> {
  if (!existsSync(PROGRAM)) return null;
  const port = await freePort();
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const children = addresses.map((address) =>
    keep(
      spawn(PROGRAM, [...user, '-c', `${address}:${port}`, `${BACKLOG}`], { stdio: ['ignore', 'ignore', 'inherit'] }),
    ),
  );
  for (const address of addresses) await accepts(address, port);
  return {
    port,
    pids: children.flatMap(({ pid }) => pid ?? []),
    async stop() {
      for (const child of children) {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
      }
    },
  };
}

async function accepts(address: string, port: number): Promise<void> {
  for (let i = 0; i < TRIES; i++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, address);
      socket.once('data', () => socket.destroy());
      socket.once('error', () => resolve(false)).once('close', (failed) => resolve(!failed));
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('smtp-sink did not greet within 2 s');
}
