/** A TCP proxy that delivers every octet later, in both directions, as a network between two sites does. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { answer } from './children.ts';

export interface Delay {
  readonly port: number;
  /** Of each direction, ms. */
  readonly ms: number;
}

function deliver(from: Socket, to: Socket, ms: number): void {
  // Timers of one duration fire in order.
  from.on('data', (data) => setTimeout(() => to.destroyed || to.write(data), ms));
  from.on('error', () => undefined).on('close', () => setTimeout(() => to.destroy(), ms));
}

answer(async ({ port, ms }: Delay): Promise<number> => {
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    deliver(client, upstream, ms);
    deliver(upstream, client, ms);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
});
