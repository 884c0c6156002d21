import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Which connections have a request under way: node itself does not count those that never sent one. */
export function trackConnections(server: Server): { closeUnused(): void } {
  const running = new Map<Socket, number>();
  server.on('connection', (socket) => {
    running.set(socket, 0);
    socket.once('close', () => running.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    running.set(socket, (running.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = running.get(socket);
      if (left !== undefined) running.set(socket, left - 1);
    });
  });
  return {
    closeUnused() {
      for (const [socket, requests] of running) if (requests === 0) socket.destroy();
    },
  };
}
