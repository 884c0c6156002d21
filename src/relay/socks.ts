/**
 * This is the server's side of SOCKS 5 (RFC 1928) with user name and password (RFC 1929), up to the reply to the
 * request.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Readable } from 'node:stream';
import { canonicalIp, type HostPort, textOf } from '../kernel/ip.ts';
import { LOGIN_VERSION, SOCKS_CONNECT, SOCKS_METHODS, SOCKS_VERSION, socksMessage } from '../kernel/socks.ts';

/** How a connection may end; docs/relay.md explains each. */
export const RELAY_OUTCOMES = [
  'completed',
  'broken',
  'idle',
  'too_long',
  'stopped',
  'blocked',
  'busy',
  'failed',
  'no_tls',
  'malformed',
  'no_password',
  'bad_token',
  'slow',
  'gone',
  'evicted',
  'port_not_allowed',
  'address_not_allowed',
  'command',
  'address_type',
  'network_unreachable',
  'host_unreachable',
  'refused',
] as const;

export type RelayOutcome = (typeof RELAY_OUTCOMES)[number];

/** The reply to a request that ends so (RFC 1928 §6); where there is none, the connection is closed. */
const REPLY_CODES: Readonly<Partial<Record<RelayOutcome, number>>> = {
  failed: 1,
  busy: 1,
  port_not_allowed: 2,
  address_not_allowed: 2,
  network_unreachable: 3,
  host_unreachable: 4,
  refused: 5,
  command: 7,
  address_type: 8,
};

/** The connection ends here. `reply` is the last reply to its client. */
export class RelayEnd extends Error {
  readonly outcome: RelayOutcome;
  readonly reply: Buffer | null;
  constructor(outcome: RelayOutcome, reply: Buffer | null = replyTo(outcome)) {
    super(outcome);
    this.outcome = outcome;
    this.reply = reply;
  }
}

const REQUEST_ADDRESS_BYTES: Readonly<Record<number, 4 | 16>> = { 1: 4, 4: 16 };
const PORT_BYTES = 2;
const REQUEST_HEAD_BYTES = 4;

/** Reads the bytes of one step; those behind them stay in the stream. */
interface StepReader {
  take(sizeBytes: number): Promise<Buffer>;
}

/**
 * Nothing is read beyond what the stream itself buffers. Rejects when `signal` aborts. `release` gives the stream to
 * its next reader.
 */
export function readerOf(stream: Readable, signal: AbortSignal): StepReader & { release(): void } {
  let wake = (): void => undefined;
  // One listener for all steps: a new one would be called at once for each byte that is there, again and again.
  const onReadable = () => wake();
  stream.on('readable', onReadable);
  signal.addEventListener('abort', onReadable);
  return {
    async take(sizeBytes) {
      for (;;) {
        signal.throwIfAborted();
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const bytes: Buffer | null = sizeBytes === 0 ? Buffer.alloc(0) : stream.read(sizeBytes);
        if (bytes?.length === sizeBytes) return bytes;
        // At its end, a stream gives what is left.
        if (bytes !== null || stream.readableEnded) throw new RelayEnd('gone');
        await promise;
      }
    },
    release: () => void stream.off('readable', onReadable),
  };
}

/** Streams where the client knows them, else the password alone; throws where the client has neither. */
export async function chooseMethod(reader: StepReader): Promise<'streams' | 'password'> {
  const [version, count = 0] = await reader.take(2);
  if (version !== SOCKS_VERSION) throw new RelayEnd('malformed');
  const methods = await reader.take(count);
  if (methods.includes(SOCKS_METHODS.streams)) return 'streams';
  if (methods.includes(SOCKS_METHODS.password)) return 'password';
  throw new RelayEnd('no_password', Buffer.of(SOCKS_VERSION, SOCKS_METHODS.refused));
}

export const LOGIN_ACCEPTED = Buffer.of(LOGIN_VERSION, 0);
export const LOGIN_REJECTED = Buffer.of(LOGIN_VERSION, 1);

/** Reads the password; the user name may be any. */
export async function readPassword(reader: StepReader): Promise<Buffer> {
  const [version, userLength = 0] = await reader.take(2);
  if (version !== LOGIN_VERSION) throw new RelayEnd('malformed');
  await reader.take(userLength);
  const [length = 0] = await reader.take(1);
  return reader.take(length);
}

const tokenDigest = (token: string | Buffer): Buffer => createHash('sha256').update(token).digest();

/** Whether a password is one of the tokens. It takes the same time for every password of a length. */
export function tokenMatcher(tokens: readonly string[]): (password: Buffer) => boolean {
  const digests = tokens.map(tokenDigest);
  return (password) => {
    const given = tokenDigest(password);
    return digests.filter((digest) => timingSafeEqual(digest, given)).length > 0;
  };
}

/** Where the client wants to connect to. Throws for anything but CONNECT. */
export async function readDestination(reader: StepReader): Promise<HostPort> {
  const head = await reader.take(REQUEST_HEAD_BYTES);
  return destinationOf(head, await reader.take(addressBytesOf(head) + PORT_BYTES));
}

/** Does the same for a whole request. */
export function destinationIn(request: Buffer): HostPort {
  const head = request.subarray(0, REQUEST_HEAD_BYTES);
  const rest = request.subarray(REQUEST_HEAD_BYTES);
  if (rest.length !== addressBytesOf(head) + PORT_BYTES) throw new RelayEnd('malformed');
  return destinationOf(head, rest);
}

function addressBytesOf(head: Buffer): number {
  const [version, command, , type = 0] = head;
  if (version !== SOCKS_VERSION) throw new RelayEnd('malformed');
  if (command !== SOCKS_CONNECT) throw new RelayEnd('command');
  const sizeBytes = REQUEST_ADDRESS_BYTES[type];
  // A name, or a type that does not exist.
  if (sizeBytes === undefined) throw new RelayEnd('address_type');
  return sizeBytes;
}

/** An IPv4-mapped address is one of IPv4. */
function destinationOf(head: Buffer, rest: Buffer): HostPort {
  const sizeBytes = addressBytesOf(head);
  const groups = Array.from({ length: sizeBytes / 2 }, (_, i) => rest.readUInt16BE(2 * i));
  const text = textOf(groups);
  return { address: canonicalIp(text) ?? text, port: rest.readUInt16BE(sizeBytes) };
}

export const connectedReply = (from: HostPort): Buffer => socksMessage(0, from);

/** Null: there is none, and the connection is closed. */
export function replyTo(outcome: RelayOutcome): Buffer | null {
  const code = REPLY_CODES[outcome];
  return code === undefined ? null : socksMessage(code, { address: '0.0.0.0', port: 0 });
}

/** What the error of a connection attempt says about the destination. */
export function outcomeOfConnecting(error: unknown): RelayOutcome {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return CONNECT_ERRORS[code] ?? 'failed';
}

const CONNECT_ERRORS: Readonly<Record<string, RelayOutcome>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'refused',
  ENETUNREACH: 'network_unreachable',
  ENETDOWN: 'network_unreachable',
  EHOSTUNREACH: 'host_unreachable',
  EHOSTDOWN: 'host_unreachable',
  ETIMEDOUT: 'host_unreachable',
  // The firewall of this host does it.
  EACCES: 'address_not_allowed',
  EPERM: 'address_not_allowed',
};
