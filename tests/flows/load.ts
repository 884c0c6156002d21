/** Bounded load on a service: verifications, each of another address, some of which have to wait for DNS. */
import { Agent, request } from 'node:http';

export interface Acknowledged {
  readonly id: string;
  readonly credits: number;
}

export interface Load {
  /** Replies of 200 that arrived whole. */
  readonly acknowledged: Acknowledged[];
  /** Statuses of all other replies. */
  readonly others: number[];
  /** Requests whose connection broke before a reply. */
  broken: number;
  stop(): Promise<void>;
}

/** `lanes` clients, one request each at a time, at most `most` in all, until stopped. */
export function startLoad(url: string, key: string, { lanes = 16, most = 20_000 } = {}): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: lanes });
  const load = { acknowledged: [] as Acknowledged[], others: [] as number[], broken: 0, stop };
  let stopped = false;
  let sent = 0;

  function once(email: string): Promise<void> {
    return new Promise((resolve) => {
      const body = JSON.stringify({ email });
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      };
      const call = request(`${url}/v1/verify`, { method: 'POST', agent, headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => {
          if (!response.complete) load.broken += 1;
          else if (response.statusCode === 200) {
            const { id, credits_used } = JSON.parse(text) as { id: string; credits_used: number };
            load.acknowledged.push({ id, credits: credits_used });
          } else load.others.push(response.statusCode!);
          resolve();
        });
        response.on('error', () => undefined);
        response.on('close', () => {
          if (!response.complete) load.broken += 1;
          resolve();
        });
      });
      call.on('error', () => {
        load.broken += 1;
        resolve();
      });
      call.end(body);
    });
  }

  async function lane(): Promise<void> {
    while (!stopped && sent < most) {
      sent += 1;
      const before = load.broken;
      await once(sent % 3 === 0 ? `user${sent}@slow${sent % 50}.com` : `user${sent}@good.com`);
      // Nobody is there any more: the test decides what comes next.
      if (load.broken > before + lanes) return;
    }
  }
  const running = Promise.all(Array.from({ length: lanes }, lane));
  async function stop(): Promise<void> {
    stopped = true;
    await running;
    agent.destroy();
  }
  return load;
}
