/**
 * A connectivity probe: can mail servers be reached, and which address do they see? Sends EHLO and QUIT; no mailbox is
 * queried.
 */
import { connect, isIP, type Socket } from 'node:net';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import type { Egress } from '../../kernel/egress.ts';
import { onAbort } from '../../kernel/on-abort.ts';
import { ReplyParser } from './reply.ts';
import { type MailConnection, Tunnel } from './tunnel.ts';

export interface Greeting {
  /** The TCP connection was established. */
  readonly connected: boolean;
  /** The first reply with its code, without line ends; null when none came. */
  readonly banner: string | null;
  /** The code of the last reply: banner or EHLO. */
  readonly code: number | null;
  /** The server said this, with its code. */
  readonly said: string | null;
  /** Our IP as echoed in the reply to EHLO; many servers do not echo it. */
  readonly greetedAs: string | null;
  /** The socket's own end has this address; behind NAT, it is private. */
  readonly localAddress: string | null;
  /** Code of the system's error, such as `ECONNREFUSED`; `deadline`; `not_routable` when it was not dialled. */
  readonly error: string | null;
  /** Why the SOCKS server of the egress did not even try; nothing is known of the mail server then. */
  readonly proxyError: string | null;
}

interface ProbeOptions {
  /** The whole probe has this time. */
  readonly withinMs: number;
  /** It connects from there; by default, the system chooses. */
  readonly egress?: Pick<Egress, 'bind' | 'via'>;
  /** Guards addresses, before dialing. */
  readonly mayDial: (address: string) => boolean;
  readonly signal?: AbortSignal;
}

/** More than any greeting and list of extensions; beyond that the connection is dropped. */
const MOST_GREETING_OCTETS = 128 * 1024;
const QUIT_MS = 500;
/** `at your service, [203.0.113.5]`, `Hello name [IPv6:2001:db8::5]`, `Hello name (203.0.113.5)`. */
const ECHO = /[[(](?:IPv6:)?([0-9a-f:.]{3,45})[\])]/i;

/**
 * Connects, waits for the whole banner, says EHLO and QUIT. Never throws, ends within `withinMs`, and the socket is
 * gone when it does. `helo` null: the address literal of our end is used (RFC 5321 §4.1.3).
 */
export function probeGreeting(
  address: string,
  port: number,
  helo: string | null,
  options: ProbeOptions,
): Promise<Greeting> {
  if (isIP(address) === 0 || !options.mayDial(address)) return Promise.resolve(noGreeting('not_routable'));
  if (options.signal?.aborted) return Promise.resolve(noGreeting('cancelled'));
  const { bind = null, via = null } = options.egress ?? {};
  return new Promise((resolve) => {
    if (via !== null) {
      const fail = (fault: unknown): void => {
        warnOfFault(fault);
        end();
        tunnel.destroy();
        resolve(noGreeting('failed'));
      };
      const tunnel = new Tunnel(
        via,
        { address, port },
        {
          opened(socket) {
            end();
            new GreetingProbe(socket, helo, options, resolve).onConnect();
          },
          failed({ blames, why }) {
            end();
            resolve({ ...noGreeting(why), proxyError: blames === 'proxy' ? why : null });
          },
          fault: fail,
        },
      );
      const timer = setTimeout(
        contain(fail, () => tunnel.giveUp()),
        Math.max(1, options.withinMs),
      );
      const ignoreAbort = options.signal
        ? onAbort(
            options.signal,
            contain(fail, () => tunnel.giveUp()),
          )
        : () => {};
      const end = () => {
        clearTimeout(timer);
        ignoreAbort();
      };
      return;
    }
    const from = bind === null ? {} : { localAddress: bind };
    let socket: Socket;
    try {
      socket = connect({ host: address, port, ...from, noDelay: true, autoSelectFamily: false });
    } catch {
      // The local address is invalid.
      return resolve(noGreeting('EADDRNOTAVAIL'));
    }
    new GreetingProbe(socket, helo, options, resolve);
  });
}

const noGreeting = (error: string): Greeting => ({
  connected: false,
  banner: null,
  code: null,
  said: null,
  greetedAs: null,
  localAddress: null,
  error,
  proxyError: null,
});

/** `localAddress` is that of a socket. */
type ProbedConnection = MailConnection & { readonly localAddress?: string | undefined };

class GreetingProbe {
  readonly #socket: ProbedConnection;
  readonly #helo: string | null;
  readonly #parser = new ReplyParser();
  #found: { -readonly [K in keyof Greeting]: Greeting[K] } = { ...noGreeting(''), error: null };
  #waitsFor: 'banner' | 'ehlo' | 'quit' = 'banner';
  #octets = 0;
  readonly #done: (greeting: Greeting) => void;
  readonly #fail = (fault: unknown): void => {
    warnOfFault(fault);
    this.#found.error ??= 'failed';
    this.#socket.destroy();
    this.#done(this.#found);
  };
  #quitTimer: NodeJS.Timeout | undefined;

  constructor(
    socket: ProbedConnection,
    helo: string | null,
    options: ProbeOptions,
    done: (greeting: Greeting) => void,
  ) {
    this.#socket = socket;
    this.#helo = helo;
    const end = (why: string) => {
      this.#found.error ??= this.#waitsFor === 'quit' ? null : why;
      socket.destroy();
    };
    this.#done = done;
    const onAbort = contain(this.#fail, () => end('cancelled'));
    const timer = setTimeout(
      contain(this.#fail, () => end('deadline')),
      Math.max(1, options.withinMs),
    );
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const onError = (error: NodeJS.ErrnoException) => {
      if (this.#waitsFor !== 'quit') this.#found.error ??= error.code ?? 'failed';
    };
    const onClose = () => {
      clearTimeout(timer);
      clearTimeout(this.#quitTimer);
      options.signal?.removeEventListener('abort', onAbort);
      done(this.#found);
    };
    socket.on(
      'connect',
      contain(this.#fail, () => {
        this.onConnect();
        this.#found.localAddress = socket.localAddress ?? null;
      }),
    );
    socket.on(
      'data',
      contain(this.#fail, (chunk: Buffer) => this.#onData(chunk)),
    );
    socket.on('error', contain(this.#fail, onError));
    socket.on(
      'end',
      contain(this.#fail, () => socket.destroy()),
    );
    socket.on('close', contain(this.#fail, onClose));
  }

  onConnect(): void {
    this.#found.connected = true;
  }

  #onData(chunk: Buffer): void {
    this.#octets += chunk.length;
    for (const { code, lines } of this.#parser.push(chunk)) this.#onReply(code, lines);
    if (this.#parser.violation !== null || this.#octets > MOST_GREETING_OCTETS) {
      this.#found.error ??= 'not SMTP';
      this.#socket.destroy();
    }
  }

  #onReply(code: number, lines: readonly string[]) {
    if (this.#waitsFor === 'quit') return this.#leave();
    const found = this.#found;
    found.code = code;
    found.said = `${code} ${lines.join(' ')}`.slice(0, 300);
    if (this.#waitsFor === 'banner') {
      found.banner = found.said;
      if (code >= 400) return this.#quit();
      this.#waitsFor = 'ehlo';
      this.#socket.write(`EHLO ${this.#helo ?? addressLiteral(found.localAddress)}\r\n`);
      return;
    }
    // Only the first line can echo our address; the others are extension keywords.
    const echoed = ECHO.exec(lines[0] ?? '')?.[1];
    if (code < 400 && echoed !== undefined && isIP(echoed) !== 0) found.greetedAs = echoed.toLowerCase();
    this.#quit();
  }

  #quit(): void {
    this.#waitsFor = 'quit';
    this.#socket.write('QUIT\r\n');
    this.#quitTimer = setTimeout(
      contain(this.#fail, () => this.#leave()),
      QUIT_MS,
    );
  }

  #leave(): void {
    this.#socket.destroy();
  }
}

const addressLiteral = (address: string | null): string =>
  address?.includes(':') ? `[IPv6:${address}]` : `[${address ?? '127.0.0.1'}]`;
