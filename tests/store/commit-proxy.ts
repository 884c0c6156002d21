/** A TCP proxy in front of PostgreSQL that cuts a connection around its COMMIT, or a statement that charges. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The statement, and the tag of its answer; not the COMMITTED of the isolation level. */
const COMMIT = 'COMMIT\0';
/** The name of a statement that charges and commits at once, and the tag of its answer. */
const CHARGE = /charge-\d+\0/;
const CHARGED = /SELECT \d+\0/;

const commits = (data: Buffer): boolean => data.includes(COMMIT) || CHARGE.test(data.toString('latin1'));

interface CommitProxy {
  readonly url: string;
  /** How many connections were cut. */
  readonly cuts: number;
  /** Cuts the next connection that commits: before the server sees it, or after it is done but before its answer. */
  cut(moment: 'before' | 'after'): void;
  /** Passes nothing on, in either direction; or goes on with what has arrived meanwhile. */
  stall(all: boolean): void;
  /** Stalls with the next commit, when the server has done it and before its answer. */
  stallAfterCommit(): void;
  /** Cuts all connections and refuses new ones; or lets them in again. */
  refuse(all: boolean): void;
  close(): Promise<void>;
}

export async function commitProxy(target: string): Promise<CommitProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let next: 'before' | 'after' | null = null;
  let refusing = false;
  let stalled = false;
  let stallNext = false;
  let resumed = Promise.withResolvers<void>();
  /** In order, once the proxy is not stalled. */
  const pass = (to: Socket, data: Buffer) => {
    if (stalled) void resumed.promise.then(() => to.write(data));
    else to.write(data);
  };
  let cuts = 0;

  function stall(all: boolean): void {
    stallNext = false;
    stalled = all;
    if (!all) resumed.resolve();
    else resumed = Promise.withResolvers<void>();
  }

  const server = createServer((client) => {
    if (refusing) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    let swallow = false;
    let charges = false;
    const isDone = (data: Buffer) => data.includes(COMMIT) || (charges && CHARGED.test(data.toString('latin1')));
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', end).on('close', () => {
        open.delete(socket);
        end();
      });
    }
    const cutNow = () => {
      cuts += 1;
      end();
    };
    client.on('data', (data) => {
      charges = CHARGE.test(data.toString('latin1'));
      const moment = commits(data) ? next : null;
      if (moment !== null) next = null;
      if (moment === 'before') return cutNow();
      swallow ||= moment === 'after';
      pass(upstream, data);
    });
    upstream.on('data', (data) => {
      if (stallNext && isDone(data)) stall(true);
      if (!swallow) pass(client, data);
      else if (isDone(data)) cutNow();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    get cuts() {
      return cuts;
    },
    cut(moment) {
      next = moment;
    },
    stall,
    stallAfterCommit() {
      stallNext = true;
    },
    refuse(all) {
      refusing = all;
      if (all) for (const socket of open) socket.destroy();
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
