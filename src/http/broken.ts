import type { Socket } from 'node:net';
import { ApiError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import { putHeaders } from './header-list.ts';
import { type CommonHeaders, errorBody, errorHeaders } from './reply.ts';

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function refusalOf(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') return new ApiError('headers_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('request_timeout');
  return new ApiError('malformed_request');
}

/**
 * What cannot be read as HTTP at all has no route and no key; it gets the same shape of error and a closed connection.
 */
export function refuseBroken(
  error: NodeJS.ErrnoException,
  socket: Socket,
  nowMs: number,
  commonHeaders: CommonHeaders,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const apiError = refusalOf(error.code);
  const requestId = newId('req', nowMs);
  const body = JSON.stringify(errorBody(apiError, requestId));
  const headers = commonHeaders(requestId, '/v1');
  putHeaders(headers, errorHeaders(apiError));
  putHeaders(headers, { 'content-length': String(Buffer.byteLength(body)), connection: 'close' });
  const head = headers.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  socket.end(`HTTP/1.1 ${apiError.status} ${REASONS[apiError.status]}\r\n${head}\r\n${body}`);
}
