/** The server's side of SOCKS 5 (RFC 1928) with user name and password (RFC 1929), up to the reply to the request. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Readable } from 'node:stream';
import { canonicalIp, type HostPort, parseIp, textOf } from '../kernel/ip.ts';

/** How a connection may end; docs/relay.md explains each. */
export const RELAY_OUTCOMES = [
  ...['completed', 'broken', 'idle', 'too_long', 'stopped', 'blocked', 'busy', 'failed'],
  ...['no_tls', 'malformed', 'no_password', 'bad_token', 'slow', 'gone', 'evicted'],
  ...['port_not_allowed', 'address_not_allowed', 'command', 'address_type'],
  ...['network_unreachable', 'host_unreachable', 'refused'],
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

/** The connection ends here. `reply`: what its client is still to be told. */
export class RelayEnd extends Error {
  readonly outcome: RelayOutcome;
  readonly reply: Buffer | null;
  constructor(outcome: RelayOutcome, reply: Buffer | null = replyTo(outcome)) {
    super(outcome);
    this.outcome = outcome;
    this.reply = reply;
  }
}

const VERSION = 5;
/** Of the subnegotiation (RFC 1929). */
const LOGIN_VERSION = 1;
const PASSWORD_METHOD = 2;
const NO_METHOD = 0xff;
const CONNECT = 1;
const ADDRESS_BYTES: Readonly<Record<number, 4 | 16>> = { 1: 4, 4: 16 };
const PORT_BYTES = 2;

/** Reads the bytes of one step; those behind them stay in the stream. */
interface StepReader {
  take(size: number): Promise<Buffer>;
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
    async take(size) {
      for (;;) {
        signal.throwIfAborted();
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const bytes: Buffer | null = size === 0 ? Buffer.alloc(0) : stream.read(size);
        if (bytes?.length === size) return bytes;
        // At its end, a stream gives what is left.
        if (bytes !== null || stream.readableEnded) throw new RelayEnd('gone');
        await promise;
      }
    },
    release: () => void stream.off('readable', onReadable),
  };
}

/** The method of user name and password; throws where the client does not have it. */
export async function chooseMethod(reader: StepReader): Promise<Buffer> {
  const [version, count = 0] = await reader.take(2);
  if (version !== VERSION) throw new RelayEnd('malformed');
  const methods = await reader.take(count);
  if (!methods.includes(PASSWORD_METHOD)) throw new RelayEnd('no_password', Buffer.of(VERSION, NO_METHOD));
  return Buffer.of(VERSION, PASSWORD_METHOD);
}

export const LOGIN_ACCEPTED = Buffer.of(LOGIN_VERSION, 0);
export const LOGIN_REJECTED = Buffer.of(LOGIN_VERSION, 1);

/** The password; the user name may be any. */
export async function readPassword(reader: StepReader): Promise<Buffer> {
  const [version, userLength = 0] = await reader.take(2);
  if (version !== LOGIN_VERSION) throw new RelayEnd('malformed');
  await reader.take(userLength);
  const [length = 0] = await reader.take(1);
  return reader.take(length);
}

const digestOf = (token: string | Buffer): Buffer => createHash('sha256').update(token).digest();

/** Whether a password is one of the tokens. It takes the same time for every password of a length. */
export function tokenMatcher(tokens: readonly string[]): (password: Buffer) => boolean {
  const digests = tokens.map(digestOf);
  return (password) => {
    const given = digestOf(password);
    return digests.filter((digest) => timingSafeEqual(digest, given)).length > 0;
  };
}

/** Where the client wants to connect to; an IPv4-mapped address is one of IPv4. Throws for anything but CONNECT. */
export async function readDestination(reader: StepReader): Promise<HostPort> {
  const [version, command, , type = 0] = await reader.take(4);
  if (version !== VERSION) throw new RelayEnd('malformed');
  if (command !== CONNECT) throw new RelayEnd('command');
  const size = ADDRESS_BYTES[type];
  // A name, or a type that does not exist.
  if (size === undefined) throw new RelayEnd('address_type');
  const bytes = await reader.take(size + PORT_BYTES);
  const groups = Array.from({ length: size / 2 }, (_, i) => bytes.readUInt16BE(2 * i));
  const text = textOf(groups);
  return { address: canonicalIp(text) ?? text, port: bytes.readUInt16BE(size) };
}

/** `from`: the address that the relay connects from. */
export const connectedReply = (from: HostPort): Buffer => requestReply(0, from);

function replyTo(outcome: RelayOutcome): Buffer | null {
  const code = REPLY_CODES[outcome];
  return code === undefined ? null : requestReply(code, { address: '0.0.0.0', port: 0 });
}

function requestReply(code: number, { address, port }: HostPort): Buffer {
  const groups = parseIp(address) ?? [0, 0];
  const bytes = [...groups, port].flatMap((group) => [group >> 8, group & 0xff]);
  return Buffer.from([VERSION, code, 0, groups.length === 2 ? 1 : 4, ...bytes]);
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
  // This host's firewall.
  EACCES: 'address_not_allowed',
  EPERM: 'address_not_allowed',
};
