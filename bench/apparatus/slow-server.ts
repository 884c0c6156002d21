/** Slow mail servers, in a separate process. */

import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { answer } from './children.ts';

/** `drip`: an endless banner of one octet per second. `wait`: no reply to MAIL and RCPT. */
export type SlowServer =
  | { readonly is: 'listen'; readonly address: string; readonly port: number; readonly how: 'drip' | 'wait' }
  /** Connections that wait for the reply to RCPT, or receive the endless banner. */
  | { readonly is: 'waiting' };

const BACKLOG = 4096;
const DRIP_MS = 1000;
const read = (name: string) => readFileSync(new URL(`../../tests/lab/certificate/${name}`, import.meta.url));
const secureContext = createSecureContext({ cert: read('cert.pem'), key: read('key.pem') });

let waiting = 0;

function drip(socket: Socket): void {
  // Tarpits are not synchronized.
  const phase = (waiting++ * 7) % DRIP_MS;
  let dripping: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    dripping = setInterval(() => socket.write('2'), DRIP_MS);
  }, phase);
  socket.write('220-');
  socket.on('close', () => {
    clearTimeout(first);
    clearInterval(dripping);
    waiting--;
  });
}

function stall(plain: Socket): void {
  let waits = false;
  plain.on('close', () => {
    if (waits) waiting--;
  });
  const serve = (socket: Socket, tls: boolean): void => {
    socket.on('error', () => plain.destroy());
    socket.on('data', function heard(octets: Buffer) {
      const text = octets.toString('latin1');
      if (text.startsWith('EHLO')) socket.write(`250-slow.test\r\n${tls ? '' : '250-STARTTLS\r\n'}250 PIPELINING\r\n`);
      if (text.startsWith('MAIL') && !waits) {
        waits = true;
        waiting++;
      }
      if (!text.startsWith('STARTTLS')) return;
      socket.off('data', heard);
      socket.write('220 2.0.0 go ahead\r\n');
      serve(new TLSSocket(socket, { isServer: true, secureContext }), true);
    });
  };
  plain.write('220 slow.test ESMTP\r\n');
  serve(plain, false);
}

answer<SlowServer>(async (message) => {
  if (message.is === 'waiting') return waiting;
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    (message.how === 'drip' ? drip : stall)(socket);
  });
  await new Promise<void>((resolve) => server.listen(message.port, message.address, BACKLOG, resolve));
  const address = server.address();
  return typeof address === 'object' ? address?.port : 0;
});
