import { type Partner, startPartner } from './children.ts';
import { cpuSeconds } from './measure.ts';

export interface Load {
  readonly port: number;
  readonly connections: number;
  /** Complete requests, head and body, sent in rotation. */
  readonly requests: readonly string[];
  /** Ends after this many seconds … */
  readonly seconds: number;
  /** … or after this many requests. */
  readonly count?: number;
}

export interface LoadReport {
  readonly requests: number;
  readonly perSecond: number;
  /** Milliseconds from the last octet sent to the last octet received. */
  readonly p50: number;
  readonly p99: number;
  /** Replies that were not 2xx. */
  readonly failures: number;
  readonly firstFailure: string | null;
}

export interface LoadSample extends LoadReport {
  /** Microseconds of the server's CPU, all its threads, per request. */
  readonly cpuMicros: number;
}

export interface Loader {
  /** Loads the server with process ID `pid`. Throws if a reply is not 2xx. */
  run(pid: number, load: Load): Promise<LoadSample>;
  end(): Promise<void>;
}

export async function startLoader(): Promise<Loader> {
  const partner: Partner = await startPartner('load-process.ts');
  return {
    async run(pid, load) {
      const before = cpuSeconds(pid);
      const report = await partner.ask<LoadReport>(load);
      if (report.failures > 0)
        throw new Error(`${report.failures} requests failed, the first:\n${report.firstFailure}`);
      return { ...report, cpuMicros: ((cpuSeconds(pid) - before) * 1e6) / report.requests };
    },
    end: () => partner.end(),
  };
}

/** POST requests for the load generator, one per body. */
export const posts = (path: string, key: string, bodies: readonly object[]): string[] =>
  bodies.map((body) => {
    const text = JSON.stringify(body);
    const head = [
      `POST ${path} HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
    ];
    return `${head.join('\r\n')}\r\n\r\n${text}`;
  });
