import type { Socket } from 'node:net';
import { Refusal } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import { commonHeaders, errorBody, errorHeaders } from './reply.ts';

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function refusalOf(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('headers_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal('request_timeout');
  return new Refusal('malformed_request');
}

/** What cannot be read as HTTP at all has no route and no key; it gets the same shape of error and a closed connection. */
export function refuseBroken(error: NodeJS.ErrnoException, socket: Socket, nowMs: number): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = refusalOf(error.code);
  const requestId = newId('req', nowMs);
  const body = JSON.stringify(errorBody(refusal, requestId));
  const headers = Object.entries({
    ...commonHeaders(requestId, '/v1'),
    ...errorHeaders(refusal),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  const head = headers.map(([name, value]) => `${name}: ${value}`).join('\r\n');
  socket.end(`HTTP/1.1 ${refusal.status} ${REASONS[refusal.status]}\r\n${head}\r\n\r\n${body}`);
}
