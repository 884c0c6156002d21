/**
 * The one outgoing HTTP client: posts to URLs that others chose. It connects only to addresses that the mailbox check
 * may dial too, follows no redirect, and reads no more of a reply than it returns.
 */
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket, type TcpSocketConnectOpts } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import type { AttemptError } from '../../kernel/facts/events.ts';
import type { DnsAnswer } from '../dns/message.ts';
import type { Resolver } from '../dns/resolver.ts';
import { routable } from '../dns/routable.ts';

export interface DestinationDeps {
  readonly resolver: Pick<Resolver, 'ask'>;
  readonly clock: Clock;
  /** Test setups only: any address. */
  readonly allowPrivate: boolean;
  /** Whether this host may be dialed, by http as well, as its operator has named a server there. */
  readonly loopback?: boolean;
  readonly ownAddresses: ReadonlySet<string>;
}

interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Addresses of each family that are tried. */
const DIALED_MAX = 2;

/** Returns the host without the brackets of an IPv6 address (RFC 3986 §3.2.2). */
export const urlHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

export const isLiteral = (url: URL): boolean => isIP(urlHost(url)) !== 0;

/** Addresses of `localhost`, which is never asked of the DNS (RFC 6761 §6.3). */
const LOOPBACK: readonly HostAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Whether the URL is of this host, by what it says alone. */
export function isLoopback(url: URL): boolean {
  const host = urlHost(url);
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** The host cannot be dialed. */
export class NoAddressError extends Error {
  readonly reason: Extract<AttemptError, 'unknown_host' | 'dns_failure' | 'timeout'>;
  constructor(reason: NoAddressError['reason']) {
    super(`No address: ${reason}.`);
    this.name = 'NoAddressError';
    this.reason = reason;
  }
}

/**
 * The addresses of a host name that may be dialed, at least one. Throws NoAddressError, which does not tell a name with
 * other addresses from one without any: what internal names exist is nobody's business.
 */
export async function resolveHost(
  { resolver, clock, allowPrivate, ownAddresses: own }: DestinationDeps,
  name: string,
  deadlineMs: number,
): Promise<readonly HostAddress[]> {
  const answers = await Promise.all([
    resolver.ask(name, 'A', { deadlineMs }),
    resolver.ask(name, 'AAAA', { deadlineMs }),
  ]);
  const dialable = (answer: DnsAnswer, family: HostAddress['family']): HostAddress[] => {
    const all = answer.kind === 'records' ? answer.records.flatMap((r) => ('address' in r ? [r.address] : [])) : [];
    const some = all.filter((address) => routable(address, { allowPrivate, own })).slice(0, DIALED_MAX);
    return some.map((address) => ({ address, family }));
  };
  const found = [...dialable(answers[0], 4), ...dialable(answers[1], 6)];
  if (found.length > 0) return found;
  const kinds = answers.map(({ kind }) => kind);
  const isSettled = kinds.every((kind) => kind === 'records' || kind === 'nodata' || kind === 'nxdomain');
  if (isSettled) throw new NoAddressError('unknown_host');
  throw new NoAddressError(clock.elapsed() >= deadlineMs ? 'timeout' : 'dns_failure');
}

export interface HttpPost {
  /** Defaults to POST. */
  readonly method?: 'GET' | 'POST';
  readonly url: string;
  /** Names in lower case; without those of the connection and the body's length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Counts from the DNS query to the status of the reply. */
  readonly timeoutMs: number;
  /** As much of the reply's body is returned. */
  readonly replyBytes: number;
  /** As long after its status, ms; what came until then is returned. */
  readonly bodyMs?: number;
  readonly signal: AbortSignal;
}

type HttpOutcome =
  | { readonly status: number; readonly response: string; readonly type: string; readonly error: null }
  | { readonly status: null; readonly response: null; readonly type: null; readonly error: AttemptError };

/** Rejects only with the reason of its aborted `signal`, or with a fault of ours. */
export type Post = (request: HttpPost) => Promise<HttpOutcome>;

/** The body of a reply may take so long by default, ms: those of webhooks are shown to users, and decide nothing. */
const BODY_WAIT_MS = 1_000;
/** After so long the next address of the host is tried, ms (RFC 8305 §5; longer, as nobody looks on). */
const NEXT_ADDRESS_MS = 2_500;

const failedAttempt = (error: AttemptError): HttpOutcome => ({ status: null, response: null, type: null, error });

/** Where private addresses are allowed, http is as well. */
export const createPost =
  (deps: DestinationDeps): Post =>
  async (request) => {
    const url = new URL(request.url);
    const { clock, allowPrivate, ownAddresses: own, loopback = false } = deps;
    const here = loopback && isLoopback(url);
    if (url.protocol !== 'https:' && !allowPrivate && !here) return failedAttempt('not_https');
    if (isLiteral(url) && !here && !routable(urlHost(url), { allowPrivate, own }))
      return failedAttempt('address_not_allowed');
    const deadlineMs = clock.elapsed() + request.timeoutMs;
    // `autoSelectFamily` asks for all addresses. They are asked for when the connection is made, so that only addresses
    // just checked are dialed.
    const lookup: LookupFunction = (host, _all, done) => {
      (here ? Promise.resolve(LOOPBACK) : resolveHost(deps, host, deadlineMs))
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
    let phase: PostPhase = 'connecting';
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
    const expire = contain(fail, () => end(failedAttempt('timeout')));
    const timer = setTimeout(expire, timeoutMs);
    signal.addEventListener('abort', expire);
    const enter = (next: PostPhase) =>
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
      const type = reply.headers['content-type'] ?? '';
      const onStart = (response: string) => end({ status, response, type, error: null });
      readStart(reply, request.replyBytes, request.bodyMs).then(contain(fail, onStart), fail);
    };
    const onError = (error: NodeJS.ErrnoException) => end(failedAttempt(attemptErrorOf(error, phase)));
    // This includes a reply that switches protocols, which nobody asked for.
    const onClose = () => {
      if (!replied) end(failedAttempt('invalid_reply'));
    };
    sent.on('socket', contain(fail, onSocket));
    sent.on('error', contain(fail, onError));
    sent.on('response', contain(fail, onReply));
    sent.on('close', contain(fail, onClose));
    sent.end(request.body);
  });
}

function requestTo(url: URL, { method = 'POST', headers, body }: HttpPost, lookup: LookupFunction): http.ClientRequest {
  const options: https.RequestOptions &
    Pick<TcpSocketConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
    method,
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    // It has a connection of its own, closed after the reply.
    agent: false,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    // Whatever the environment says.
    rejectUnauthorized: true,
  };
  return url.protocol === 'https:' ? https.request(url, options) : http.request(url, options);
}

type PostPhase = 'connecting' | 'handshake' | 'connected';

/** Maps codes of OpenSSL and Node (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
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

function attemptErrorOf(error: NodeJS.ErrnoException, phase: PostPhase): AttemptError {
  if (error instanceof NoAddressError) return error.reason;
  if (phase === 'handshake') return CERTIFICATE_ERRORS.get(error.code ?? '') ?? 'tls_failed';
  return error.code?.startsWith('HPE_') ? 'invalid_reply' : 'connection_failed';
}

/** The first bytes of a reply's body as text: what was there before it broke off is what it was. */
function readStart(reply: http.IncomingMessage, most: number, bodyMs = BODY_WAIT_MS): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const end = contain(reject, () => {
      clearTimeout(timer);
      resolve(new TextDecoder().decode(Buffer.concat(chunks).subarray(0, most)));
    });
    const timer = setTimeout(end, bodyMs);
    const onData = (chunk: Buffer) => {
      if (sizeBytes < most) chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes >= most) end();
    };
    reply.on('data', contain(reject, onData));
    reply.on('close', end);
    reply.on('error', end);
  });
}
