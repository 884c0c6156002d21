import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Closers } from './closers.ts';

/**
 * After a stop begins, which a drain may have preceded, the port stays open for this long while connections close after
 * their reply, so that clients that keep theirs open go elsewhere.
 */
export const LAME_DUCK_MS = 1000;
/** Requests in flight are cut off after this long; the rest of the stop's time limit is for the remaining closers. */
const DRAIN_MS = 25_000;

interface Port {
  readonly host: string;
  readonly port: number;
  /** The option that sets it, for error messages. */
  readonly option: 'MAILVET_PORT' | 'MAILVET_METRICS_PORT' | '--listen' | '--health-listen';
  /** The option that sets the address. */
  readonly hostOption?: string;
}

/** Rethrows errors of `listen` with a message that names the port and the option that sets it. */
export async function explainListening<T>(
  { host, port, option, hostOption = 'MAILVET_HOST' }: Port,
  listen: () => Promise<T>,
): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    const sentences: Readonly<Record<string, string>> = {
      EADDRINUSE: `port ${port} of ${host} is in use: stop the process that listens there, or set ${option} to another port.`,
      EACCES: `this user may not listen on port ${port} of ${host}: set ${option} to a port above 1023.`,
      EADDRNOTAVAIL: `${host} is not an address of this machine: correct ${hostOption}.`,
    };
    const sentence = sentences[String(code)];
    throw sentence === undefined ? error : new Error(sentence, { cause: error });
  }
}

/** Opens the main port; returns its number. Closing it lets requests in flight finish. */
export async function listenForRequests(
  server: Server,
  { host, port }: { host: string; port: number },
  lameDuckMs: number,
  closers: Closers,
): Promise<number> {
  await explainListening({ host, port, option: 'MAILVET_PORT' }, async () => {
    server.listen(port, host);
    await once(server, 'listening');
  });
  closers.add('requests', DRAIN_MS + 1000, async () => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    await sleep(lameDuckMs);
    const closed = once(server, 'close');
    // Closes idle keep-alive connections as well, and those that never sent a request; later those that become idle.
    server.close();
    const sweep = setInterval(() => server.closeIdleConnections(), 100);
    try {
      await closed;
    } finally {
      clearTimeout(cut);
      clearInterval(sweep);
    }
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
