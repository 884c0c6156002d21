/** Lists of addresses, uploaded to a service and followed to their end. */
import { cpuSeconds, residentMb } from './measure.ts';

export interface ListServer {
  readonly pid: number;
  readonly port: number;
  readonly key: string;
}

export interface ListSample {
  readonly id: string;
  /** From the first byte of the upload to the last result. */
  readonly perSecond: number;
  /** Microseconds of the server's CPU, all its threads, per address. */
  readonly cpuMicros: number;
  /** Seconds from the reply to the upload to the first results. */
  readonly firstSeconds: number;
  /** The most that was seen, MB. */
  readonly peakMb: number;
}

const LOOK_MS = 50;

/** A CSV of two columns. */
const csvOf = (emails: readonly string[]): string =>
  `email,name\n${emails.map((email, i) => `${email},Jane Doe ${i}\n`).join('')}`;

interface ListReply {
  readonly id: string;
  readonly status: string;
  readonly progress: { readonly done: number };
}

async function call({ port, key }: ListServer, path: string, body?: string): Promise<ListReply> {
  const headers = { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'text/csv' }) };
  const request = body === undefined ? { headers } : { method: 'POST', headers, body };
  const response = await fetch(`http://127.0.0.1:${port}/v1/lists${path}`, request);
  const reply = await response.text();
  if (!response.ok) throw new Error(`/v1/lists${path} answered ${response.status}: ${reply}`);
  return JSON.parse(reply) as ListReply;
}

/** `until`: called again and again; true cancels the list. */
export async function runList(
  server: ListServer,
  level: 'mx' | 'smtp',
  emails: readonly string[],
  until: () => boolean = () => false,
): Promise<ListSample> {
  const text = csvOf(emails);
  const cpu = cpuSeconds(server.pid);
  const began = performance.now();
  const { id } = await call(server, `?validation_type=${level}`, text);
  const uploaded = performance.now();
  let [first, peakMb] = [Number.POSITIVE_INFINITY, residentMb(server.pid)];
  for (;;) {
    const list = await call(server, `/${id}`);
    const now = performance.now();
    if (list.progress.done > 0) first = Math.min(first, now);
    peakMb = Math.max(peakMb, residentMb(server.pid));
    if (list.status === 'completed') break;
    if (until()) {
      await call(server, `/${id}/cancel`, '');
      break;
    }
    if (list.status !== 'running') throw new Error(`The list ${id} is ${list.status}.`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  const seconds = (performance.now() - began) / 1000;
  return {
    id,
    perSecond: emails.length / seconds,
    cpuMicros: ((cpuSeconds(server.pid) - cpu) * 1e6) / emails.length,
    firstSeconds: (first - uploaded) / 1000,
    peakMb,
  };
}
