import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createHttpServer } from '../server.ts';
import type { Metrics } from './registry.ts';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** At once, from one network: a few scrapers. */
const CONNECTIONS = 50;

/** `/metrics` on a port of its own, for networks where that port is not reachable from outside. */
export function listenForMetrics(metrics: Metrics, host: string, port: number): Promise<Server> {
  const server = createHttpServer(serve, { perNetwork: CONNECTIONS, isProxy: () => false });

  function serve(request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': METRICS_TYPE }).end(text),
      () => response.writeHead(500).end(),
    );
  }

  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}
