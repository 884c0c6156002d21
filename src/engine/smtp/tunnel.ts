/**
 * A connection to a mail server through a SOCKS server. The server is always given the very IP address that passed the
 * address check, never a name: what it would resolve a name to has passed no check.
 */
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket, connect as tlsConnect } from 'node:tls';
import type { SocksClient } from 'socks';
import { contain } from '../../kernel/contain.ts';
import type { SocksServer } from '../../kernel/egress.ts';
import { SMTP_LIMITS, type SmtpLimits } from './limits.ts';

/** What a tunnel waits for, and for how long at most. */
const STEP_LIMIT = {
  /** The TCP connection to the SOCKS server. */
  connect: ({ connectMs }) => connectMs,
  /** The TLS handshake with it. */
  tls: ({ tlsMs }) => tlsMs,
  /** Its choice of a method, and its answer to the credentials (RFC 1929). */
  greeting: ({ socksGreetingMs }) => socksGreetingMs,
  /** Its connection to the mail server. */
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
  /** For the transcript; without names and credentials. */
  readonly why: string;
}

/**
 * By how `socks` calls the reply codes of RFC 1928 §6. The first two are about the server itself and its rules; of
 * those that it cannot serve (7, 8), the mail server knows nothing either.
 */
const REPLIES: Readonly<Record<string, TunnelFailure['blames']>> = {
  Failure: 'proxy',
  NotAllowed: 'proxy',
  NetworkUnreachable: 'mail_host',
  HostUnreachable: 'mail_host',
  ConnectionRefused: 'mail_host',
  TTLExpired: 'mail_host',
  CommandNotSupported: 'proxy',
  AddressNotSupported: 'proxy',
};
const REJECTED = 'Socks5 proxy rejected connection - ';

interface TunnelDestination {
  /** An IP literal that may be dialled. */
  readonly address: string;
  readonly port: number;
  readonly limits?: SmtpLimits;
}

interface TunnelEvents {
  /** The connection to the mail server. It is paused until somebody reads. */
  readonly opened: (socket: Socket) => void;
  readonly failed: (failure: TunnelFailure) => void;
  /** A handler threw. */
  readonly fault: (fault: unknown) => void;
}

/**
 * What connections to a server share: a context, which takes longer to make than a handshake, and the last session,
 * which is resumed without a certificate and its signatures (RFC 8446 §2.2).
 */
interface SharedTls {
  readonly secureContext: SecureContext;
  session: Buffer | null;
}
const sharedByServer = new WeakMap<SocksServer, SharedTls>();

function sharedTls(server: SocksServer): SharedTls {
  const known = sharedByServer.get(server);
  if (known !== undefined) return known;
  const secureContext = createSecureContext(server.ca === null ? {} : { ca: server.ca });
  const made = { secureContext, session: null };
  sharedByServer.set(server, made);
  return made;
}

/** Calls one of `opened` and `failed`, once, and never synchronously, unless it is destroyed before. */
export class Tunnel {
  readonly #server: SocksServer;
  readonly #destination: { readonly host: string; readonly port: number };
  readonly #on: TunnelEvents;
  readonly #limits: SmtpLimits;
  #socket: Socket;
  #step: TunnelStep = 'connect';
  #timer: NodeJS.Timeout;
  #isOver = false;

  constructor(server: SocksServer, { address, port, limits = SMTP_LIMITS }: TunnelDestination, on: TunnelEvents) {
    if (isIP(address) === 0) throw new TypeError('a SOCKS server is given IP addresses only');
    this.#limits = limits;
    this.#server = server;
    this.#destination = { host: address, port };
    this.#on = on;
    const plain = tcpConnect({ host: server.host, port: server.port, noDelay: true });
    this.#socket = this.#watch(plain);
    this.#timer = this.#limit('connect');
    plain.once(
      'connect',
      contain(on.fault, () => this.#onConnect(plain)),
    );
  }

  /** There is no more time: fails now. */
  giveUp(): void {
    this.#fail('proxy', 'no answer in time');
  }

  destroy(): void {
    this.#end();
    this.#socket.destroy();
  }

  #onConnect(plain: Socket) {
    if (this.#isOver) return;
    const { tls, host } = this.#server;
    if (!tls) return this.#negotiate();
    const name = isIP(host) === 0 ? { servername: host } : {};
    const shared = sharedTls(this.#server);
    const session = shared.session === null ? {} : { session: shared.session };
    const socket = this.#watch(
      tlsConnect({ socket: plain, host, ...name, ...session, secureContext: shared.secureContext }),
    );
    this.#socket = socket;
    this.#next('tls');
    socket.once(
      'secureConnect',
      contain(this.#on.fault, () => this.#negotiate()),
    );
    socket.once(
      'close',
      contain(this.#on.fault, () => plain.destroy()),
    );
  }

  #negotiate(): void {
    if (this.#isOver) return;
    this.#next('greeting');
    // Loaded only where there is a SOCKS server. Bundled, a CommonJS package has its exports in `default` alone.
    import('socks').then(
      contain(this.#on.fault, ({ default: { SocksClient } }) => this.#speak(SocksClient)),
      this.#on.fault,
    );
  }

  #speak(Client: typeof SocksClient): void {
    if (this.#isOver) return;
    const { host, port, credentials } = this.#server;
    const known = credentials();
    const client = new Client({
      proxy: { host, port, type: 5, ...(known === null ? {} : { userId: known.user, password: known.password }) },
      command: 'connect',
      destination: this.#destination,
      // Later than ours, which know the step.
      timeout: tunnelMs(this.#limits) + 1_000,
    });
    const watchGreeting = contain(this.#on.fault, this.#greetingWatch());
    this.#socket.on('data', watchGreeting);
    client.once(
      'established',
      contain(this.#on.fault, () => {
        if (this.#isOver) return;
        this.#end();
        this.#socket.off('data', watchGreeting);
        this.#keepSession();
        this.#on.opened(this.#socket);
      }),
    );
    // Errors of the client hold the credentials: only the message may leave.
    const onError = ({ message }: Error) => this.#onRejected(message);
    client.on('error', contain(this.#on.fault, onError));
    client.connect(this.#socket);
  }

  /** By now the server, which is authorized, has sent its tickets (RFC 8446 §4.6.1). */
  #keepSession(): void {
    if (!(this.#socket instanceof TLSSocket) || this.#socket.isSessionReused()) return;
    sharedTls(this.#server).session = this.#socket.getSession() ?? null;
  }

  /** The client does not say when the greeting is over: method and answer to the credentials take two octets each. */
  #greetingWatch(): (chunk: Buffer) => void {
    let seen = Buffer.alloc(0);
    return (chunk) => {
      if (this.#isOver || this.#step !== 'greeting') return;
      seen = Buffer.concat([seen, chunk.subarray(0, 4)]);
      // Method 0 wants no credentials, which method 2 accepts with 0.
      if (seen[1] === 0 || (seen[1] === 2 && seen[3] === 0)) this.#next('request');
    };
  }

  #onRejected(message: string) {
    const reply = message.startsWith(REJECTED) ? message.slice(REJECTED.length) : null;
    if (reply === null) return this.#fail('proxy', message);
    this.#fail(REPLIES[reply] ?? 'proxy', `SOCKS reply ${reply in REPLIES ? reply : 'of an unknown kind'}`);
  }

  #watch<S extends Socket>(socket: S): S {
    // Stays: a socket without a listener for errors ends the process.
    socket.on(
      'error',
      contain(this.#on.fault, ({ code, message }: NodeJS.ErrnoException) => this.#fail('proxy', code ?? message)),
    );
    socket.on(
      'close',
      contain(this.#on.fault, () => this.#fail('proxy', 'the connection was closed')),
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
      contain(this.#on.fault, () => this.giveUp()),
      STEP_LIMIT[step](this.#limits),
    );
  }

  #fail(blames: TunnelFailure['blames'], why: string): void {
    if (this.#isOver) return;
    this.#end();
    this.#socket.destroy();
    this.#on.failed({ blames, step: this.#step, why });
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
