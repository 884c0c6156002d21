/** A connection that sends bytes as they are, for what no HTTP client would do. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawConnection {
  readonly socket: Socket;
  /** What the server has sent so far. */
  received(): string;
  /** Resolves when the server has closed the connection; ms since it was opened. */
  readonly closed: Promise<number>;
}

/**
 * `reads: false`: what the server sends stays in the buffers of the operating system. `halfOpen`: stays open when the
 * server has closed its half.
 */
export async function openRaw(url: string, { reads = true, halfOpen = false } = {}): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: halfOpen });
  const opened = performance.now();
  const closed = Promise.withResolvers<number>();
  const chunks: Buffer[] = [];
  // A server that closes while we send resets the connection: an end like any other.
  socket.on('error', () => undefined);
  socket.on('close', () => closed.resolve(performance.now() - opened));
  if (reads) socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'connect');
  return { socket, closed: closed.promise, received: () => Buffer.concat(chunks).toString() };
}

/** The status of the first reply; null before it. */
export const statusIn = (received: string): number | null => {
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(received) ?? [];
  return status === undefined ? null : Number(status);
};
