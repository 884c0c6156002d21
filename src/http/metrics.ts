import { createServer, type Server } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  text(): Promise<string>;
  request(labels: { method: string; route: string; status: number; seconds: number }): void;
  verification(labels: { status: string; reason: string | null; level: string; seconds: number }): void;
  /** A value that is read at each scrape. */
  gauge(name: string, help: string, read: () => number): void;
  gaugeBy(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void;
  /** A count that is kept elsewhere: one row for each set of labels. */
  counterBy<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    read: () => readonly CountedRow<L>[],
  ): void;
}

interface CountedRow<L extends string> {
  readonly labels: Readonly<Record<L, string | number>>;
  readonly count: number;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Counters and gauges in the Prometheus text format. Labels are bounded: routes, codes and reasons, never addresses. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'mailvet_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'mailvet_http_request_seconds',
    help: 'Time from the request to its reply.',
    labelNames: ['route'],
    buckets: SECONDS,
    registers,
  });
  const verifications = new Counter({
    name: 'mailvet_verifications_total',
    help: 'Verdicts recorded.',
    labelNames: ['status', 'reason', 'level'],
    registers,
  });
  const verificationSeconds = new Histogram({
    name: 'mailvet_verification_seconds',
    help: 'Time that a verdict took.',
    labelNames: ['level'],
    buckets: SECONDS,
    registers,
  });
  return {
    text: () => registry.metrics(),
    request({ method, route, status, seconds }) {
      requests.inc({ method, route, status });
      requestSeconds.observe({ route }, seconds);
    },
    verification({ status, reason, level, seconds }) {
      verifications.inc({ status, reason: reason ?? 'none', level });
      verificationSeconds.observe({ level }, seconds);
    },
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    counterBy(name, help, labels, read) {
      new Counter({
        name,
        help,
        labelNames: labels,
        registers,
        collect() {
          this.reset();
          for (const row of read()) this.inc(row.labels, row.count);
        },
      });
    },
    gaugeBy(name, help, label, read) {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers,
        collect() {
          this.reset();
          for (const [key, value] of Object.entries(read())) this.set({ [label]: key }, value);
        },
      });
    },
  };
}

/** `/metrics` on a port of its own, for networks where that port is not reachable from outside. */
export function listenForMetrics(metrics: Metrics, host: string, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}
