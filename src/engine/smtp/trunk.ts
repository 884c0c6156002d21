/**
 * A connection to a relay of ours that carries many dialogues (kernel/socks.ts). Each is a stream of it, which a
 * session uses as it would use a socket.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import type { HostPort } from '../../kernel/ip.ts';
import { type FrameKind, FrameReader, FrameWriter, SOCKS_CONNECT, socksMessage } from '../../kernel/socks.ts';

/** For so long a trunk without streams is kept, which is less than a relay keeps it. */
const UNUSED_MS = 10_000;
const TRUNK_KEEP_ALIVE_MS = 10_000;
/** Octets that a stream keeps for its reader; a session takes more than this in no time. */
const UNREAD_BYTES_MAX = 1024 * 1024;

/** Octets in a row for streams that were closed. A relay that goes on with them has not understood that they are. */
const STRAY_BYTES_MAX = 8 * 1024 * 1024;
/** The number of a stream has 4 octets. */
const LAST_STREAM = 0xffff_ffff;

/** The code of the reply to a request (RFC 1928 §6); null: the stream ended without one. */
type OnAnswer = (code: number | null) => void;

export class Trunk {
  readonly #socket: Socket;
  readonly #streams = new Map<number, TrunkStream>();
  readonly #reader = new FrameReader();
  readonly #writer: FrameWriter;
  readonly #fail = (fault: unknown): void => {
    warnOfFault(fault);
    this.#socket.destroy();
  };
  #last = 0;
  #stray = 0;
  #isRetired = false;
  #unused: NodeJS.Timeout | undefined;
  /** How often anything has arrived. */
  reads = 0;

  /** `first`: what has arrived behind the sign-in. The socket has a listener for errors. */
  constructor(socket: Socket, first: Buffer) {
    this.#socket = socket;
    const write = (bytes: Buffer) => {
      socket.write(bytes);
    };
    this.#writer = new FrameWriter(contain(this.#fail, write));
    socket.setKeepAlive(true, TRUNK_KEEP_ALIVE_MS);
    // Whoever waits for a dialogue has timers, and nothing else waits for a trunk.
    socket.unref();
    const onData = (chunk: Buffer) => {
      this.reads += 1;
      if (!this.#reader.read(chunk, this.#onFrame)) socket.destroy();
    };
    socket.on('data', contain(this.#fail, onData));
    socket.on(
      'end',
      contain(this.#fail, () => socket.destroy()),
    );
    socket.on(
      'close',
      contain(this.#fail, () => this.#onClose()),
    );
    if (first.length > 0) onData(first);
    socket.resume();
    this.#waitForUse();
  }

  /** Whether it takes another stream. */
  get isOpen(): boolean {
    return !this.#isRetired && this.#last < LAST_STREAM && !this.#socket.destroyed && this.#socket.writable;
  }

  /** Asks for a connection. `onAnswer` is called once, never synchronously, unless the stream is destroyed before. */
  connect(destination: HostPort, onAnswer: OnAnswer): TrunkStream {
    clearTimeout(this.#unused);
    this.#last += 1;
    const id = this.#last;
    const stream = new TrunkStream(onAnswer, {
      send: (chunk) => this.#writer.add('data', id, chunk),
      onDestroy: (isKnown) => this.#onDestroy(id, isKnown),
    });
    this.#streams.set(id, stream);
    this.#writer.add('open', id, socksMessage(SOCKS_CONNECT, destination));
    return stream;
  }

  /** Takes no more streams; those that are open go on. */
  retire(): void {
    this.#isRetired = true;
    if (this.#streams.size === 0) this.#socket.destroy();
  }

  readonly #onFrame = (kind: FrameKind, id: number, payload: Buffer) => {
    if (kind === 'retire') return this.retire();
    const stream = this.#streams.get(id);
    if (stream === undefined) return this.#onStray(payload.length);
    this.#stray = 0;
    if (kind === 'reply') return stream.answer(payload[1] ?? null);
    if (kind === 'data') return stream.receive(payload);
    stream.endHere();
  };

  /** More octets of a closed stream may be on their way. */
  #onStray(octets: number): void {
    this.#stray += octets;
    if (this.#stray > STRAY_BYTES_MAX) this.#socket.destroy();
  }

  #onDestroy(id: number, isKnown: boolean) {
    if (!this.#streams.delete(id)) return;
    if (!isKnown) this.#writer.add('close', id);
    if (this.#streams.size > 0) return;
    if (!this.#isRetired) return this.#waitForUse();
    this.#writer.flush();
    this.#socket.destroySoon();
  }

  #waitForUse(): void {
    clearTimeout(this.#unused);
    this.#unused = setTimeout(
      contain(this.#fail, () => this.retire()),
      UNUSED_MS,
    ).unref();
  }

  #onClose(): void {
    clearTimeout(this.#unused);
    for (const stream of this.#streams.values()) stream.endHere(true);
  }
}

interface StreamOwner {
  readonly send: (chunk: Buffer) => void;
  /** `isKnown`: the relay has ended the stream itself. */
  readonly onDestroy: (isKnown: boolean) => void;
}

class TrunkStream extends Duplex {
  readonly #owner: StreamOwner;
  #onAnswer: OnAnswer | null;
  #isEnded = false;

  constructor(onAnswer: OnAnswer, owner: StreamOwner) {
    super({ allowHalfOpen: false });
    this.#onAnswer = onAnswer;
    this.#owner = owner;
  }

  answer(code: number | null): void {
    const onAnswer = this.#onAnswer;
    this.#onAnswer = null;
    if (code !== 0) this.#isEnded = true;
    if (code !== 0) this.destroy();
    onAnswer?.(code);
  }

  receive(chunk: Buffer): void {
    if (this.#isEnded) return;
    // Before the answer, there is no mail server that it could come from.
    if (this.#onAnswer !== null) this.answer(null);
    else if (!this.push(chunk) && this.readableLength > UNREAD_BYTES_MAX) this.destroy();
  }

  /** The relay has ended it, or (`isBroken`) the trunk has. */
  endHere(isBroken = false) {
    if (this.#onAnswer !== null) return this.answer(null);
    if (isBroken) this.destroy();
    else if (!this.#isEnded) this.push(null);
    this.#isEnded = true;
  }

  /** As of a socket: what was written is sent, as it was handed on at once. */
  destroySoon(): void {
    this.destroy();
  }

  override _read(): void {
    // Whatever arrives is pushed at once.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.#isEnded) this.#owner.send(chunk);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#onAnswer = null;
    this.#owner.onDestroy(this.#isEnded);
    done(error);
  }
}
