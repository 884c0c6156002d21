/** A load balancer as they are: it polls /readyz, keeps connections open, takes turns, and repeats no request. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Member {
  readonly url: string;
  ready: boolean;
  /** Resolves with the next poll. */
  polled: PromiseWithResolvers<boolean>;
}

interface Balancer {
  readonly url: string;
  add(url: string): void;
  /** Not before the member is out of rotation. */
  remove(url: string): void;
  /** Resolves right after a poll that has found the member as wanted. */
  polled(url: string, ready: boolean): Promise<void>;
  close(): Promise<void>;
}

/** `everyMs`: how often each member is asked whether it is ready; one answer decides. */
export async function startBalancer(everyMs: number): Promise<Balancer> {
  const members = new Map<string, Member>();
  const agent = new Agent({ keepAlive: true });
  let turn = 0;

  const timer = setInterval(() => {
    for (const member of members.values()) void poll(member, everyMs);
  }, everyMs);

  const server = createServer((incoming, outgoing) => {
    const ready = [...members.values()].filter((member) => member.ready);
    const member = ready[turn++ % ready.length];
    if (member === undefined) outgoing.writeHead(502).end();
    else forward(member.url, agent, incoming, outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url) => void members.set(url, { url, ready: false, polled: Promise.withResolvers() }),
    remove: (url) => void members.delete(url),
    async polled(url, ready) {
      const member = members.get(url)!;
      while ((await member.polled.promise) !== ready);
    },
    async close() {
      clearInterval(timer);
      agent.destroy();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function poll(member: Member, withinMs: number): Promise<void> {
  const ready = await fetch(`${member.url}/readyz`, { signal: AbortSignal.timeout(withinMs) }).then(
    ({ ok }) => ok,
    () => false,
  );
  member.ready = ready;
  const { resolve } = member.polled;
  member.polled = Promise.withResolvers();
  resolve(ready);
}

/** A request that fails on the way is a 502: it may have been charged, so nobody repeats it. */
function forward(url: string, agent: Agent, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, headers } = incoming;
  const upstream = request(url + incoming.url, { agent, method, headers }, (reply) => {
    // The connection to the client is the balancer's own.
    const { connection: _own, ...others } = reply.headers;
    outgoing.writeHead(reply.statusCode!, others);
    reply.pipe(outgoing);
  });
  upstream.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()));
  incoming.pipe(upstream);
}
