/**
 * A SOCKS 5 server on loopback that connects from an address of its own, and misbehaves as it is told. Everything that
 * clients ask for is recorded.
 */
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { type FrameKind, FrameReader, FrameWriter, SOCKS_METHODS } from '../../src/kernel/socks.ts';

/** How it misbehaves. With TLS, a server without it hangs at the handshake. */
type SocksFault =
  | 'hangs_at_greeting'
  | 'hangs_at_credentials'
  | 'hangs_at_request'
  | 'half_a_reply'
  | 'floods'
  | 'names_itself'
  | 'takes_no_method'
  | 'speaks_http'
  | 'speaks_no_frames'
  | 'speaks_too_early'
  | 'closes_at_request'
  | 'dies_in_dialogue';

export interface SocksSetup {
  /** Where connections to mail servers come from. */
  readonly from?: string;
  readonly port?: number;
  readonly credentials?: { readonly user: string; readonly password: string };
  readonly tls?: boolean;
  /** As a relay of ours: a connection carries many dialogues. */
  readonly streams?: boolean;
  readonly fault?: SocksFault;
  /** Address of a mail server to which it has no answer. */
  readonly silentFor?: string;
  /** A reply code instead of a connection. */
  readonly reply?: number;
}

interface SocksRequest {
  /** 1: IPv4, 3: a name, 4: IPv6. */
  readonly atyp: number;
  readonly host: string;
  readonly port: number;
}

export interface SocksLab {
  readonly address: string;
  readonly port: number;
  readonly requests: readonly SocksRequest[];
  readonly connections: number;
  readonly open: number;
  /** Connections that resumed a TLS session. */
  readonly resumed: number;
  /** Takes no more dialogues on the connections that are open. */
  retire(): void;
  /** From now on. */
  behave(setup: Pick<SocksSetup, 'fault' | 'reply' | 'silentFor'>): void;
  close(): Promise<void>;
}

const read = (name: string) => readFileSync(new URL(`certificate/${name}`, import.meta.url));

export async function startSocks(setup: SocksSetup = {}): Promise<SocksLab> {
  const requests: SocksRequest[] = [];
  const sockets = new Set<Socket>();
  let behavior: Pick<SocksSetup, 'fault' | 'reply' | 'silentFor'> = setup;
  let connections = 0;
  let resumed = 0;
  const all: SocksConnection[] = [];
  const onConnection = (socket: Socket) => {
    connections++;
    if (socket instanceof TLSSocket && socket.isSessionReused()) resumed++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    all.push(new SocksConnection(socket, () => ({ ...setup, ...behavior }), requests, sockets));
  };
  const server: Server = setup.tls
    ? createTlsServer({ cert: read('socks.pem'), key: read('socks-key.pem') }, onConnection)
    : createServer(onConnection);
  if (setup.tls) server.on('tlsClientError', () => {});
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(setup.port ?? 0, '127.0.0.1', resolve);
  });
  const { address, port } = server.address() as AddressInfo;
  return {
    address,
    port,
    requests,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    get resumed() {
      return resumed;
    },
    retire() {
      for (const one of all) one.retire();
    },
    behave: (changed) => {
      behavior = changed;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

class SocksConnection {
  readonly #socket: Socket;
  readonly #setup: () => SocksSetup;
  readonly #requests: SocksRequest[];
  readonly #sockets: Set<Socket>;
  #input = Buffer.alloc(0);
  #step: 'greeting' | 'credentials' | 'request' | 'frames' | 'over' = 'greeting';
  #carriesMany = false;
  readonly #frames = new FrameReader();
  readonly #writer = new FrameWriter((bytes) => void this.#socket.write(bytes));
  readonly #targets = new Map<number, Socket>();

  constructor(socket: Socket, setup: () => SocksSetup, requests: SocksRequest[], sockets: Set<Socket>) {
    [this.#socket, this.#setup, this.#requests, this.#sockets] = [socket, setup, requests, sockets];
    if (setup().fault === 'speaks_http') socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
    socket.on('data', this.#onData);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#input = Buffer.concat([this.#input, chunk]);
    if (this.#step === 'frames') this.#onFrames();
    else if (this.#step === 'greeting') this.#onGreeting();
    else if (this.#step === 'credentials') this.#onCredentials();
    else if (this.#step === 'request') this.#onRequest();
  };

  #onGreeting(): void {
    const count = this.#input[1] ?? 0;
    if (this.#input.length < 2 + count) return;
    const methods = this.#input.subarray(2, 2 + count);
    this.#input = this.#input.subarray(2 + count);
    const { credentials, fault, streams } = this.#setup();
    if (fault === 'hangs_at_greeting') return;
    this.#carriesMany = streams === true && methods.includes(SOCKS_METHODS.streams);
    const signIn = this.#carriesMany ? SOCKS_METHODS.streams : methods.includes(2) ? 2 : 255;
    const method = fault === 'takes_no_method' ? 255 : credentials === undefined ? 0 : signIn;
    this.#step = method === 0 ? 'request' : method === 255 ? 'over' : 'credentials';
    this.#socket.write(Buffer.from([5, method]));
  }

  #onCredentials(): void {
    const userLength = this.#input[1] ?? 0;
    const passwordLength = this.#input[2 + userLength] ?? 0;
    if (this.#input.length < 3 + userLength + passwordLength) return;
    const user = this.#input.subarray(2, 2 + userLength).toString();
    const password = this.#input.subarray(3 + userLength, 3 + userLength + passwordLength).toString();
    this.#input = this.#input.subarray(3 + userLength + passwordLength);
    const { credentials, fault } = this.#setup();
    if (fault === 'hangs_at_credentials') return;
    const isGood = credentials?.user === user && credentials.password === password;
    this.#step = !isGood ? 'over' : this.#carriesMany ? 'frames' : 'request';
    this.#socket.write(Buffer.from([1, isGood ? 0 : 1]));
  }

  #onRequest(): void {
    const atyp = this.#input[3] ?? 0;
    const length = atyp === 1 ? 4 : atyp === 4 ? 16 : 1 + (this.#input[4] ?? 0);
    if (this.#input.length < 6 + length) return;
    const host = hostOf(atyp, this.#input.subarray(4, 4 + length));
    const port = this.#input.readUInt16BE(4 + length);
    this.#requests.push({ atyp, host, port });
    this.#step = 'over';
    const { fault, reply = 0, silentFor } = this.#setup();
    if (fault === 'hangs_at_request' || host === silentFor) return;
    if (fault === 'closes_at_request') this.#socket.end();
    else if (fault === 'half_a_reply') this.#socket.write(Buffer.from([5, 0, 0]));
    else if (fault === 'floods') this.#flood();
    else if (reply !== 0) this.#socket.end(Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]));
    else this.#connect(host, port);
  }

  retire(): void {
    if (this.#step === 'frames') this.#writer.add('retire', 0);
  }

  #onFrames(): void {
    const bytes = this.#input;
    this.#input = Buffer.alloc(0);
    this.#frames.read(bytes, (kind, id, payload) => this.#onFrame(kind, id, payload));
  }

  #onFrame(kind: FrameKind, id: number, payload: Buffer) {
    const target = this.#targets.get(id);
    if (kind === 'close') target?.destroy();
    if (kind === 'data' && this.#setup().fault === 'dies_in_dialogue' && /^(MAIL|RCPT)/i.test(payload.toString()))
      this.#socket.destroy();
    else if (kind === 'data') target?.write(payload);
    if (kind !== 'open') return;
    const atyp = payload[3] ?? 0;
    const host = hostOf(atyp, payload.subarray(4, -2));
    const port = payload.readUInt16BE(payload.length - 2);
    this.#requests.push({ atyp, host, port });
    const { fault, reply = 0, silentFor, from = '127.0.0.1' } = this.#setup();
    if (fault === 'hangs_at_request' || host === silentFor) return;
    if (fault === 'half_a_reply') return this.#socket.write(Buffer.from([1, 0, 0, 0, id, 0, 10, 5, 0, 0]));
    if (fault === 'speaks_no_frames') return this.#socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
    if (fault === 'speaks_too_early') return this.#writer.add('data', id, Buffer.from('220 too early\r\n'));
    if (fault === 'closes_at_request') return this.#writer.add('close', id);
    const answer = Buffer.from([5, reply, 0, 1, 127, 0, 0, 1, 0, 25]);
    if (fault === 'floods') return this.#floodStream(id, answer);
    if (reply !== 0) return this.#writer.add('reply', id, answer);
    const opened = connect({ host, port, localAddress: from });
    this.#sockets.add(opened);
    this.#targets.set(id, opened);
    opened.on('connect', () => this.#writer.add('reply', id, answer));
    opened.on('data', (chunk) => this.#writer.add('data', id, chunk));
    opened.on('error', () => this.#writer.add('reply', id, Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])));
    opened.on('close', () => {
      this.#sockets.delete(opened);
      this.#writer.add('close', id);
    });
    this.#socket.on('close', () => opened.destroy());
  }

  /** Frames of one stream, until the client goes away. */
  #floodStream(id: number, answer: Buffer): void {
    this.#writer.add('reply', id, answer);
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const write = () => {
      while (!this.#socket.destroyed && !this.#socket.writableNeedDrain) this.#writer.add('data', id, chunk);
    };
    this.#socket.on('drain', write);
    write();
  }

  /** Until the client goes away. */
  #flood(): void {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    this.#socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 25]));
    const write = () => {
      while (!this.#socket.destroyed && this.#socket.write(chunk));
    };
    this.#socket.on('drain', write);
    write();
  }

  #connect(host: string, port: number): void {
    const { from = '127.0.0.1', fault } = this.#setup();
    const target = connect({ host, port, localAddress: from });
    this.#sockets.add(target);
    target.on('close', () => {
      this.#sockets.delete(target);
      this.#socket.destroy();
    });
    target.on('error', () => this.#socket.end(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])));
    this.#socket.on('close', () => target.destroy());
    target.on('connect', () => {
      // The address that it is bound to, as a name that must not be looked up.
      const name = Buffer.from('relay.invalid');
      const bound = fault === 'names_itself' ? [3, name.length, ...name] : [1, 127, 0, 0, 1];
      this.#socket.write(Buffer.from([5, 0, 0, ...bound, 0, 25]));
      this.#socket.off('data', this.#onData);
      this.#socket.on('data', (chunk) => {
        if (fault === 'dies_in_dialogue' && /^(MAIL|RCPT)/i.test(chunk.toString())) this.#socket.destroy();
        else target.write(chunk);
      });
      target.on('data', (chunk) => this.#socket.write(chunk));
    });
  }
}

function hostOf(atyp: number, octets: Buffer): string {
  if (atyp === 1) return octets.join('.');
  if (atyp === 3) return octets.subarray(1).toString();
  return octets.toString('hex').replace(/(....)(?=.)/g, '$1:');
}
