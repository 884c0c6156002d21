/**
 * A connection to a mail server through a SOCKS server: one of its own, or a stream of a trunk where the server is a
 * relay of ours. The server is always given the very IP address that passed the address check, never a name: what it
 * would resolve a name to has passed no check.
 */
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext, TLSSocket, connect as tlsConnect } from 'node:tls';
import { contain } from '../../kernel/contain.ts';
import type { SocksServer } from '../../kernel/egress.ts';
import type { HostPort } from '../../kernel/ip.ts';
import { LOGIN_VERSION, SOCKS_CONNECT, SOCKS_METHODS, SOCKS_VERSION, socksMessage } from '../../kernel/socks.ts';
import { SMTP_LIMITS, type SmtpLimits } from './limits.ts';
import { Trunk } from './trunk.ts';

/** What a tunnel waits for, and for how long at most. */
const STEP_LIMIT = {
  /** Covers the TCP connection to the SOCKS server. */
  connect: ({ connectMs }) => connectMs,
  /** Covers the TLS handshake with it. */
  tls: ({ tlsMs }) => tlsMs,
  /** Covers its choice of a method, and its answer to the credentials (RFC 1929). */
  greeting: ({ socksGreetingMs }) => socksGreetingMs,
  /** Covers its connection to the mail server. */
  request: ({ socksRequestMs }) => socksRequestMs,
} as const satisfies Readonly<Record<string, (limits: SmtpLimits) => number>>;
type TunnelStep = keyof typeof STEP_LIMIT;

/** Milliseconds that all steps together may take. */
export const tunnelMs = (limits: SmtpLimits): number =>
  Object.values(STEP_LIMIT).reduce((sum, limitOf) => sum + limitOf(limits), 0);

export interface TunnelFailure {
  /** `proxy`: the SOCKS server, so nothing is known of the mail server. `mail_host`: it could not reach that. */
  readonly blames: 'proxy' | 'mail_host';
  readonly step: TunnelStep;
  /** Appears in the transcript, so it has no names and credentials. */
  readonly why: string;
}

/** A session needs this of a connection to a mail server. */
export type MailConnection = Duplex & { destroySoon(): void };

/**
 * By the reply codes of RFC 1928 §6. The first two are about the server itself and its rules; of those that it cannot
 * serve (7, 8), the mail server knows nothing either.
 */
const SOCKS_REPLIES: Readonly<Record<number, readonly [name: string, blames: TunnelFailure['blames']]>> = {
  1: ['Failure', 'proxy'],
  2: ['NotAllowed', 'proxy'],
  3: ['NetworkUnreachable', 'mail_host'],
  4: ['HostUnreachable', 'mail_host'],
  5: ['ConnectionRefused', 'mail_host'],
  6: ['TTLExpired', 'mail_host'],
  7: ['CommandNotSupported', 'proxy'],
  8: ['AddressNotSupported', 'proxy'],
};
const REPLY_ADDRESS_BYTES: Readonly<Record<number, number>> = { 1: 4, 4: 16 };
const LATE = 'no answer in time';
const CLOSED = 'the connection was closed';

interface TunnelDestination extends HostPort {
  readonly limits?: SmtpLimits;
}

interface TunnelEvents {
  /** The connection to the mail server. What comes from it is lost unless a listener is added at once. */
  readonly opened: (connection: MailConnection) => void;
  readonly failed: (failure: TunnelFailure) => void;
  /** A handler threw. */
  readonly fault: (fault: unknown) => void;
}

interface DialEvents extends Pick<TunnelEvents, 'failed' | 'fault'> {
  /** Signed in. `carriesMany`: the server is a relay of ours, and goes on with frames. `rest`: what came behind. */
  readonly ready: (socket: Socket, carriesMany: boolean, rest: Buffer) => void;
}

/** The steps of a connection that are the same for every mail server. Calls one of `ready` and `failed`, once. */
class Dial {
  readonly #server: SocksServer;
  readonly #shared: SharedByServer;
  readonly #limits: SmtpLimits;
  readonly #on: DialEvents;
  #socket: Socket;
  #step: TunnelStep = 'connect';
  #timer: NodeJS.Timeout;
  #input = Buffer.alloc(0);
  #awaits: 'method' | 'sign_in' = 'method';
  #carriesMany = false;
  #isOver = false;
  readonly #onData = (chunk: Buffer): void => this.#read(chunk);

  constructor(server: SocksServer, shared: SharedByServer, limits: SmtpLimits, on: DialEvents) {
    [this.#server, this.#shared, this.#limits, this.#on] = [server, shared, limits, on];
    const plain = tcpConnect({ host: server.host, port: server.port, noDelay: true });
    this.#socket = this.#watch(plain);
    this.#timer = this.#limit('connect');
    plain.once(
      'connect',
      contain(on.fault, () => this.#onConnect(plain)),
    );
  }

  get step(): TunnelStep {
    return this.#step;
  }

  destroy(): void {
    this.#end();
    this.#socket.destroy();
  }

  #onConnect(plain: Socket) {
    if (this.#isOver) return;
    const { tls, host } = this.#server;
    if (!tls) return this.#greet();
    const name = isIP(host) === 0 ? { servername: host } : {};
    const { secureContext, session } = this.#shared;
    const resumed = session === null ? {} : { session };
    const socket = this.#watch(tlsConnect({ socket: plain, host, ...name, ...resumed, secureContext }));
    this.#socket = socket;
    this.#next('tls');
    socket.once(
      'secureConnect',
      contain(this.#on.fault, () => this.#greet()),
    );
    socket.once(
      'close',
      contain(this.#on.fault, () => plain.destroy()),
    );
  }

  #greet(): void {
    if (this.#isOver) return;
    this.#next('greeting');
    this.#socket.on('data', contain(this.#on.fault, this.#onData));
    const { none, password, streams } = SOCKS_METHODS;
    const methods = this.#server.credentials() === null ? [none] : [none, password, streams];
    this.#socket.write(Buffer.of(SOCKS_VERSION, methods.length, ...methods));
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#input = Buffer.concat([this.#input, chunk]);
    if (this.#input.length < 2) return;
    const [version, value] = this.#input;
    this.#input = this.#input.subarray(2);
    if (this.#awaits === 'method') this.#onMethod(version, value);
    else if (version === LOGIN_VERSION && value === 0) this.#ready();
    else this.#fail('the user or password was rejected');
  }

  #onMethod(version: number | undefined, method: number | undefined) {
    const { none, password, streams, refused } = SOCKS_METHODS;
    const credentials = this.#server.credentials();
    if (version !== SOCKS_VERSION) return this.#fail('no SOCKS server of version 5');
    if (method === none) return this.#ready();
    if (method === refused) return this.#fail('no method of signing in was accepted');
    if ((method !== password && method !== streams) || credentials === null) return this.#fail('an unknown method');
    this.#carriesMany = method === streams;
    this.#awaits = 'sign_in';
    const [user, secret] = [Buffer.from(credentials.user), Buffer.from(credentials.password)];
    const parts = [Buffer.of(LOGIN_VERSION, user.length), user, Buffer.of(secret.length), secret];
    this.#socket.write(Buffer.concat(parts));
    if (this.#input.length > 0) this.#read(Buffer.alloc(0));
  }

  #ready(): void {
    this.#end();
    this.#socket.removeAllListeners('data');
    this.#socket.pause();
    this.#keepSession();
    this.#on.ready(this.#socket, this.#carriesMany, this.#input);
  }

  /** By now the server, which is authorized, has sent its tickets (RFC 8446 §4.6.1). */
  #keepSession(): void {
    if (!(this.#socket instanceof TLSSocket) || this.#socket.isSessionReused()) return;
    this.#shared.session = this.#socket.getSession() ?? null;
  }

  #watch<S extends Socket>(socket: S): S {
    // Stays: a socket without a listener for errors ends the process.
    socket.on(
      'error',
      contain(this.#on.fault, ({ code, message }: NodeJS.ErrnoException) => this.#fail(code ?? message)),
    );
    socket.on(
      'close',
      contain(this.#on.fault, () => this.#fail(CLOSED)),
    );
    return socket;
  }

  #next(step: TunnelStep): void {
    this.#step = step;
    clearTimeout(this.#timer);
    this.#timer = this.#limit(step);
  }

  #limit(step: TunnelStep): NodeJS.Timeout {
    return setTimeout(
      contain(this.#on.fault, () => this.#fail(LATE)),
      STEP_LIMIT[step](this.#limits),
    );
  }

  #fail(why: string): void {
    if (this.#isOver) return;
    this.#end();
    this.#socket.destroy();
    this.#on.failed({ blames: 'proxy', step: this.#step, why });
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
/**
 * What connections to a server share: a context, which takes longer to make than a handshake; the last session, which
 * is resumed without a certificate and its signatures (RFC 8446 §2.2); and the trunk, if it is a relay of ours.
 */
class SharedByServer {
  readonly secureContext: SecureContext;
  session: Buffer | null = null;
  readonly #server: SocksServer;
  #trunk: Trunk | null = null;
  #dial: Dial | null = null;
  readonly #waiting = new Set<Tunnel>();
  /** Takes one dialogue a connection. */
  #isForeign = false;

  constructor(server: SocksServer) {
    this.#server = server;
    this.secureContext = createSecureContext(server.ca === null ? {} : { ca: server.ca });
  }

  get step(): TunnelStep {
    return this.#dial?.step ?? 'connect';
  }

  /** Has the tunnel carried by the trunk, once there is one. False: it has to dial by itself. */
  join(tunnel: Tunnel, limits: SmtpLimits): boolean {
    if (this.#isForeign || this.#server.credentials() === null) return false;
    if (this.#trunk?.isOpen) {
      tunnel.onTrunk(this.#trunk, true);
      return true;
    }
    this.#waiting.add(tunnel);
    this.#dial ??= new Dial(this.#server, this, limits, {
      ready: (socket, carriesMany, rest) => this.#onReady(socket, carriesMany, rest),
      failed: (failure) => {
        for (const one of this.#takeWaiting()) one.fail(failure);
      },
      fault: (fault) => {
        this.#dial?.destroy();
        for (const one of this.#takeWaiting()) one.fault(fault);
      },
    });
    return true;
  }

  leave(tunnel: Tunnel): void {
    if (!this.#waiting.delete(tunnel) || this.#waiting.size > 0) return;
    this.#dial?.destroy();
    this.#dial = null;
  }

  adopt(socket: Socket, rest: Buffer): Trunk {
    this.#isForeign = false;
    this.#trunk = new Trunk(socket, rest);
    return this.#trunk;
  }

  #onReady(socket: Socket, carriesMany: boolean, rest: Buffer): void {
    const [first, ...others] = this.#takeWaiting();
    if (carriesMany) {
      const trunk = this.adopt(socket, rest);
      for (const one of first === undefined ? [] : [first, ...others]) one.onTrunk(trunk, false);
      return;
    }
    this.#isForeign = true;
    if (first === undefined) socket.destroy();
    else first.onSocket(socket, rest);
    for (const one of others) one.dial();
  }

  #takeWaiting(): readonly Tunnel[] {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    this.#dial = null;
    return waiting;
  }
}
const sharedByServer = new WeakMap<SocksServer, SharedByServer>();

function sharedOf(server: SocksServer): SharedByServer {
  const known = sharedByServer.get(server);
  if (known !== undefined) return known;
  const made = new SharedByServer(server);
  sharedByServer.set(server, made);
  return made;
}

/** Calls one of `opened` and `failed`, once, and never synchronously, unless it is destroyed before. */
export class Tunnel {
  readonly #server: SocksServer;
  readonly #shared: SharedByServer;
  readonly #destination: HostPort;
  readonly #on: TunnelEvents;
  readonly #limits: SmtpLimits;
  #dial: Dial | null = null;
  /** The connection is set from the request on. */
  #connection: MailConnection | null = null;
  #timer: NodeJS.Timeout | undefined;
  #hasJoinedAgain = false;
  #isOver = false;

  constructor(server: SocksServer, { address, port, limits = SMTP_LIMITS }: TunnelDestination, on: TunnelEvents) {
    if (isIP(address) === 0) throw new TypeError('a SOCKS server is given IP addresses only');
    this.#limits = limits;
    this.#server = server;
    this.#shared = sharedOf(server);
    this.#destination = { address, port };
    this.#on = on;
    if (!this.#shared.join(this, limits)) this.dial();
  }

  /** There is no more time: fails now. */
  giveUp(): void {
    this.fail({ blames: 'proxy', step: this.#step, why: LATE });
  }

  destroy(): void {
    this.#end();
    this.#connection?.destroy();
    this.#dial?.destroy();
    this.#shared.leave(this);
  }

  get #step(): TunnelStep {
    if (this.#connection !== null) return 'request';
    return this.#dial?.step ?? this.#shared.step;
  }

  /** It dials a connection of its own. */
  dial(): void {
    this.#dial = new Dial(this.#server, this.#shared, this.#limits, {
      ready: (socket, carriesMany, rest) => {
        this.#dial = null;
        if (carriesMany) this.onTrunk(this.#shared.adopt(socket, rest), false);
        else this.onSocket(socket, rest);
      },
      failed: (failure) => this.fail(failure),
      fault: this.#on.fault,
    });
  }

  /** `isUsed`: it has been open for a while, so that the relay may be closing it just now. */
  onTrunk(trunk: Trunk, isUsed: boolean): void {
    const before = trunk.reads;
    this.#await(() => {
      // For others, it is as silent.
      if (trunk.reads === before) trunk.retire();
    });
    const onAnswer = (code: number | null) => {
      if (this.#isOver) return;
      if (code !== null) return this.#onReply(code, stream);
      if (!isUsed || this.#hasJoinedAgain) return this.#failByProxy(CLOSED);
      this.#hasJoinedAgain = true;
      this.#connection = null;
      clearTimeout(this.#timer);
      trunk.retire();
      if (!this.#shared.join(this, this.#limits)) this.dial();
    };
    const stream = trunk.connect(this.#destination, contain(this.#on.fault, onAnswer));
    this.#connection = stream;
  }

  /** Runs once the client is signed in there; `rest` came behind. */
  onSocket(socket: Socket, rest: Buffer): void {
    this.#connection = socket;
    this.#await(() => {});
    let input = rest;
    const onData = contain(this.#on.fault, (chunk: Buffer) => {
      input = Buffer.concat([input, chunk]);
      const reply = replyIn(input);
      if (reply === null) return;
      socket.off('data', onData);
      socket.off('close', onClose);
      if (typeof reply === 'string') return this.#failByProxy(reply);
      if (reply.code !== 0) return this.#onReply(reply.code, socket);
      socket.pause();
      if (reply.sizeBytes < input.length) socket.unshift(input.subarray(reply.sizeBytes));
      this.#onReply(0, socket);
      socket.resume();
    });
    const onClose = contain(this.#on.fault, () => this.#failByProxy(CLOSED));
    socket.on('data', onData);
    socket.once('close', onClose);
    socket.write(socksMessage(SOCKS_CONNECT, this.#destination));
    socket.resume();
  }

  fail(failure: TunnelFailure): void {
    if (this.#isOver) return;
    this.destroy();
    this.#on.failed(failure);
  }

  fault(fault: unknown): void {
    this.#on.fault(fault);
  }

  #failByProxy(why: string): void {
    this.fail({ blames: 'proxy', step: this.#step, why });
  }

  #onReply(code: number, connection: MailConnection): void {
    if (this.#isOver) return;
    if (code === 0) {
      this.#end();
      this.#on.opened(connection);
      return;
    }
    const [name, blames] = SOCKS_REPLIES[code] ?? ['of an unknown kind', 'proxy'];
    this.fail({ blames, step: 'request', why: `SOCKS reply ${name}` });
  }

  #await(onLate: () => void): void {
    const late = () => {
      onLate();
      this.giveUp();
    };
    this.#timer = setTimeout(contain(this.#on.fault, late), STEP_LIMIT.request(this.#limits));
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}

/** The reply that the octets begin with; null: it is not complete; text: why they are none. */
function replyIn(input: Buffer): { readonly code: number; readonly sizeBytes: number } | string | null {
  const [version, code, , type = 0, nameLength = 0] = input;
  if (version !== undefined && version !== SOCKS_VERSION) return 'no SOCKS server of version 5';
  if (code !== undefined && code !== 0) return { code, sizeBytes: input.length };
  if (code === undefined || input.length < 5) return null;
  // The address that it connects from may be a name (type 3), which nobody looks up.
  const address = type === 3 ? 1 + nameLength : REPLY_ADDRESS_BYTES[type];
  if (address === undefined) return 'a reply with an unknown type of address';
  const sizeBytes = 4 + address + 2;
  return input.length < sizeBytes ? null : { code, sizeBytes };
}
