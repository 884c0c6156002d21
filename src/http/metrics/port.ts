import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { systemClock } from '../../kernel/clock.ts';
import { ambiguityOf } from '../exchange.ts';
import { createHttpServer } from '../server.ts';
import type { Metrics } from './registry.ts';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** One network gets this many at once: it has a few scrapers. */
const CONNECTIONS = 50;

/** How long a text is shared by all scrapes, ms: it is made of many queries. */
const TEXT_MS = 1_000;

/**
 * `/metrics` on a port of its own, for networks where that port is not reachable from outside; with `isHealthy`,
 * `/healthz` as well.
 */
export function listenForMetrics(
  metrics: Pick<Metrics, 'text'>,
  host: string,
  port: number,
  isHealthy?: () => boolean,
): Promise<Server> {
  const server = createHttpServer(serve, { perNetwork: CONNECTIONS, ofRemoteHosts: CONNECTIONS, isProxy: () => false });
  let made: { readonly text: Promise<string>; readonly untilMs: number } | null = null;

  function text(): Promise<string> {
    const now = systemClock.elapsed();
    if (made === null || made.untilMs <= now) made = { text: metrics.text(), untilMs: now + TEXT_MS };
    return made.text;
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    if (ambiguityOf(request) !== null) {
      response.writeHead(400).end();
      return;
    }
    if (isHealthy !== undefined && request.method === 'GET' && request.url === '/healthz') {
      const [status, text] = isHealthy() ? [200, 'ok'] : [503, 'stopping'];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ status: text }));
      return;
    }
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    text().then(
      (body) => response.writeHead(200, { 'content-type': METRICS_TYPE }).end(body),
      () => response.writeHead(500).end(),
    );
  }

  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}
