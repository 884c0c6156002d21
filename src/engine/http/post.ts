/**
 * The one outgoing HTTP client: posts to URLs that others chose. It connects only to addresses that the mailbox check
 * may dial too, follows no redirect, and reads no more of a reply than it returns.
 */
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket, TcpSocketConnectOpts } from 'node:net';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import type { AttemptError } from '../../kernel/facts/events.ts';
import { routable } from '../dns/routable.ts';
import { type DestinationDeps, hostOf, isLiteral, NoAddressError, resolveHost } from './destination.ts';

export interface HttpPost {
  readonly url: string;
  /** Names in lower case; without those of the connection and the body's length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** From the DNS query to the status of the reply. */
  readonly timeoutMs: number;
  /** As much of the reply's body is returned. */
  readonly replyBytes: number;
  readonly signal: AbortSignal;
}

type HttpOutcome =
  | { readonly status: number; readonly response: string; readonly error: null }
  | { readonly status: null; readonly response: null; readonly error: AttemptError };

/** Rejects only with the reason of its aborted `signal`, or with a fault of ours. */
export type Post = (request: HttpPost) => Promise<HttpOutcome>;

/** The body of a reply may take so long after its status, ms: it is shown to users, and decides nothing. */
const BODY_WAIT_MS = 1_000;
/** Until the next address of the host is tried, ms (RFC 8305 §5; longer, as nobody looks on). */
const NEXT_ADDRESS_MS = 2_500;

const failed = (error: AttemptError): HttpOutcome => ({ status: null, response: null, error });

/** Where private addresses are allowed, http is as well. */
export const createPost =
  (deps: DestinationDeps): Post =>
  async (request) => {
    const url = new URL(request.url);
    const { clock, allowPrivate, ownAddresses: own } = deps;
    if (url.protocol !== 'https:' && !allowPrivate) return failed('not_https');
    if (isLiteral(url) && !routable(hostOf(url), { allowPrivate, own })) return failed('address_not_allowed');
    const deadline = clock.elapsed() + request.timeoutMs;
    // With `autoSelectFamily`, for all addresses. Asked when the connection is made, so that only addresses just
    // checked are dialed.
    const lookup: LookupFunction = (host, _all, done) => {
      resolveHost(deps, host, deadline)
        .then(
          (addresses) => done(null, [...addresses]),
          (error: Error) => done(error, []),
        )
        .catch(warnOfFault);
    };
    request.signal.throwIfAborted();
    const outcome = await exchange(url, request, lookup);
    request.signal.throwIfAborted();
    return outcome;
  };

function exchange(url: URL, request: HttpPost, lookup: LookupFunction): Promise<HttpOutcome> {
  const { signal, timeoutMs } = request;
  return new Promise<HttpOutcome>((resolve, reject) => {
    let phase: Phase = 'connecting';
    let replied = false;
    const sent = requestTo(url, request, lookup);
    const end = (outcome: HttpOutcome) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', expire);
      resolve(outcome);
      sent.destroy();
    };
    const fail = (fault: unknown) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', expire);
      reject(fault);
      sent.destroy();
    };
    const expire = contain(fail, () => end(failed('timeout')));
    const timer = setTimeout(expire, timeoutMs);
    signal.addEventListener('abort', expire);
    const enter = (next: Phase) =>
      contain(fail, () => {
        phase = next;
      });
    const onSocket = (socket: Socket) => {
      socket.once('connect', enter(url.protocol === 'https:' ? 'handshake' : 'connected'));
      socket.once('secureConnect', enter('connected'));
    };
    const onReply = (reply: http.IncomingMessage) => {
      replied = true;
      clearTimeout(timer);
      const { statusCode: status = 0 } = reply;
      const onStart = (response: string) => end({ status, response, error: null });
      readStart(reply, request.replyBytes).then(contain(fail, onStart), fail);
    };
    const onError = (error: NodeJS.ErrnoException) => end(failed(reasonOf(error, phase)));
    // Also of a reply that switches protocols, which nobody asked for.
    const onClose = () => {
      if (!replied) end(failed('invalid_reply'));
    };
    sent.on('socket', contain(fail, onSocket));
    sent.on('error', contain(fail, onError));
    sent.on('response', contain(fail, onReply));
    sent.on('close', contain(fail, onClose));
    sent.end(request.body);
  });
}

function requestTo(url: URL, { headers, body }: HttpPost, lookup: LookupFunction): http.ClientRequest {
  const options: https.RequestOptions &
    Pick<TcpSocketConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
    method: 'POST',
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    // A connection of its own, closed after the reply.
    agent: false,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    // Whatever the environment says.
    rejectUnauthorized: true,
  };
  return url.protocol === 'https:' ? https.request(url, options) : http.request(url, options);
}

type Phase = 'connecting' | 'handshake' | 'connected';

/** Codes of OpenSSL and Node (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
const CERTIFICATE_ERRORS: ReadonlyMap<string, AttemptError> = new Map([
  ['CERT_HAS_EXPIRED', 'certificate_expired'],
  ['CERT_NOT_YET_VALID', 'certificate_expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate_name_mismatch'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate_untrusted'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate_untrusted'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'certificate_untrusted'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate_untrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate_untrusted'],
  ['CERT_UNTRUSTED', 'certificate_untrusted'],
]);

function reasonOf(error: NodeJS.ErrnoException, phase: Phase): AttemptError {
  if (error instanceof NoAddressError) return error.reason;
  if (phase === 'handshake') return CERTIFICATE_ERRORS.get(error.code ?? '') ?? 'tls_failed';
  return error.code?.startsWith('HPE_') ? 'invalid_reply' : 'connection_failed';
}

/** The first bytes of a reply's body as text: what was there before it broke off is what it was. */
function readStart(reply: http.IncomingMessage, most: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = contain(reject, () => {
      clearTimeout(timer);
      resolve(new TextDecoder().decode(Buffer.concat(chunks).subarray(0, most)));
    });
    const timer = setTimeout(end, BODY_WAIT_MS);
    const onData = (chunk: Buffer) => {
      if (size < most) chunks.push(chunk);
      size += chunk.length;
      if (size >= most) end();
    };
    reply.on('data', contain(reject, onData));
    reply.on('close', end);
    reply.on('error', end);
  });
}
