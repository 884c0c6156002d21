/** Bounded load on a service: verifications of different addresses, some of which wait for DNS. */
import { Agent, request } from 'node:http';

export interface Acknowledged {
  readonly id: string;
  readonly credits: number;
}

interface Load {
  /** Complete replies with status 200. */
  readonly acknowledged: Acknowledged[];
  /** Status codes of all other replies. */
  readonly others: number[];
  /** Requests whose connection closed before the reply. */
  broken: number;
  stop(): Promise<void>;
}

/** `clients` clients with one request at a time each, at most `max` requests in total, until stopped. */
export function startLoad(url: string, key: string, { clients = 16, max = 20_000 } = {}): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
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

  async function client(): Promise<void> {
    while (!stopped && sent < max) {
      sent += 1;
      const before = load.broken;
      await once(sent % 3 === 0 ? `user${sent}@slow${sent % 50}.com` : `user${sent}@good.com`);
      // The service is down; the test decides how to continue.
      if (load.broken > before + clients) return;
    }
  }
  const running = Promise.all(Array.from({ length: clients }, client));
  async function stop(): Promise<void> {
    stopped = true;
    await running;
    agent.destroy();
  }
  return load;
}
