/** An HTTP server on loopback that webhooks are sent to. It records requests, and replies as the test says. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}
type Respond = (reply: ServerResponse, received: Received, request: IncomingMessage) => void;

export interface Receiver {
  readonly port: number;
  /** Without a path. */
  readonly url: string;
  readonly received: Received[];
  respond(how: Respond): void;
  close(): Promise<void>;
}

/** Self-signed certificates for `RECEIVER_NAME`; that of `expired` was valid on one day of 2020. */
const certificate = (name: string) => readFileSync(new URL(`certificate/${name}.pem`, import.meta.url), 'utf8');
export const RECEIVER_NAME = 'mx.lab.test';
export const receiverCertificate = (name: 'cert' | 'expired' = 'cert'): string => certificate(name);

export async function startReceiver({
  tls = false,
  expired = false,
  respond = (reply) => reply.end('thanks'),
}: {
  readonly tls?: boolean;
  readonly expired?: boolean;
  readonly respond?: Respond;
} = {}): Promise<Receiver> {
  let how = respond;
  const received: Received[] = [];
  const serve = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const body = await text(request).catch(() => '');
    const { method = '', url: path = '' } = request;
    const one = { method, path, headers: request.headers as Record<string, string>, body };
    received.push(one);
    how(reply, one, request);
  };
  const listener = (request: IncomingMessage, reply: ServerResponse) => void serve(request, reply);
  const server = tls
    ? createTlsServer({ cert: certificate(expired ? 'expired' : 'cert'), key: certificate('key') }, listener)
    : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: tls ? `https://${RECEIVER_NAME}:${port}` : `http://127.0.0.1:${port}`,
    received,
    respond(next) {
      how = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
