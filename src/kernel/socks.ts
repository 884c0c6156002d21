/**
 * What both sides of SOCKS 5 (RFC 1928) share here, and how one connection carries many: after a private method (§3)
 * and the sign-in of RFC 1929, it has frames of numbered streams, each with its own connection to a mail server. So a
 * dialogue costs the relay one connection and no handshake.
 *
 * A frame is a kind (1 octet), the number of a stream (4), the size of what follows (2), and that. The client begins
 * streams, and gives each a number of its own.
 */
import { type HostPort, parseIp } from './ip.ts';

export const SOCKS_VERSION = 5;
/** The sign-in message has this version. */
export const LOGIN_VERSION = 1;
export const SOCKS_METHODS = { none: 0, password: 2, streams: 0xa7, refused: 0xff } as const;
export const SOCKS_CONNECT = 1;

/** A request or a reply (RFC 1928 §4, §6), which differ in the second octet alone: the command or the reply's code. */
export function socksMessage(code: number, { address, port }: HostPort): Buffer {
  const groups = parseIp(address) ?? [0, 0];
  const bytes = [...groups, port].flatMap((group) => [group >> 8, group & 0xff]);
  return Buffer.from([SOCKS_VERSION, code, 0, groups.length === 2 ? 1 : 4, ...bytes]);
}

/**
 * `open`: a request as of RFC 1928 §4. `reply`: its answer as of §6; unless it says 0, the stream has ended. `close`:
 * nothing more comes, and nothing more is taken. `retire`, of no stream: the relay takes no more streams here.
 */
const FRAME_KINDS = ['open', 'reply', 'data', 'close', 'retire'] as const;
export type FrameKind = (typeof FRAME_KINDS)[number];
const CODE_OF = { open: 0, reply: 1, data: 2, close: 3, retire: 4 } as const satisfies Record<FrameKind, number>;

const FRAME_HEADER_BYTES = 7;
/** One frame holds at most this. */
export const FRAME_BYTES = 16 * 1024;
/** As soon as so much waits, it is written. */
const FLUSH_BYTES = 64 * 1024;
const NO_BYTES = new Uint8Array();

/** Collects the frames of one turn of the event loop, for one write. */
export class FrameWriter {
  #bytes = Buffer.allocUnsafe(4 * 1024);
  #isDue = false;
  /** Octets that wait. */
  sizeBytes = 0;
  readonly #write: (bytes: Buffer) => void;
  readonly #flush = (): void => this.flush();

  /** `write` must not throw. */
  constructor(write: (bytes: Buffer) => void) {
    this.#write = write;
  }

  add(kind: FrameKind, stream: number, payload: Uint8Array = NO_BYTES): void {
    if (payload.length > FRAME_BYTES) {
      this.add(kind, stream, payload.subarray(0, FRAME_BYTES));
      this.add(kind, stream, payload.subarray(FRAME_BYTES));
      return;
    }
    this.#reserve(FRAME_HEADER_BYTES + payload.length);
    this.#bytes[this.sizeBytes] = CODE_OF[kind];
    this.#bytes.writeUInt32BE(stream, this.sizeBytes + 1);
    this.#bytes.writeUInt16BE(payload.length, this.sizeBytes + 5);
    this.#bytes.set(payload, this.sizeBytes + FRAME_HEADER_BYTES);
    this.sizeBytes += FRAME_HEADER_BYTES + payload.length;
    if (this.sizeBytes >= FLUSH_BYTES) this.flush();
    else if (!this.#isDue) {
      this.#isDue = true;
      setImmediate(this.#flush);
    }
  }

  flush(): void {
    this.#isDue = false;
    if (this.sizeBytes === 0) return;
    const bytes = Buffer.from(this.#bytes.subarray(0, this.sizeBytes));
    this.sizeBytes = 0;
    this.#write(bytes);
  }

  #reserve(more: number): void {
    if (this.sizeBytes + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.sizeBytes + more));
    larger.set(this.#bytes.subarray(0, this.sizeBytes));
    this.#bytes = larger;
  }
}

export class FrameReader {
  #rest: Buffer | null = null;

  /** Calls `on` for each frame that is complete; its payload is part of the chunk. False: these are no frames. */
  read(chunk: Buffer, on: (kind: FrameKind, stream: number, payload: Buffer) => void): boolean {
    const bytes = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= FRAME_HEADER_BYTES) {
      const kind = FRAME_KINDS[bytes.readUInt8(at)];
      const sizeBytes = bytes.readUInt16BE(at + 5);
      if (kind === undefined || sizeBytes > FRAME_BYTES) return false;
      const end = at + FRAME_HEADER_BYTES + sizeBytes;
      if (end > bytes.length) break;
      on(kind, bytes.readUInt32BE(at + 1), bytes.subarray(at + FRAME_HEADER_BYTES, end));
      at = end;
    }
    this.#rest = at === bytes.length ? null : bytes.subarray(at);
    return true;
  }
}
