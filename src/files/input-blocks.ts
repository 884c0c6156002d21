import { tooLarge } from './problems.ts';

/** Smaller chunks are put together: a client may send single bytes. */
const BLOCK_BYTES = 32 * 1024;

interface InputBlocks {
  readonly blocks: AsyncGenerator<Buffer, void, undefined>;
  /** Lowers the limit, for a form of file that may only be smaller. Throws FileError if more has arrived. */
  lowerLimit(to: number): void;
  /** Bytes that have arrived so far. */
  received(): number;
}

/** The input in blocks of a useful size. One that is larger than the limit is a FileError. */
export function inputBlocks(input: AsyncIterable<Uint8Array>, maxBytes: number): InputBlocks {
  let limit = maxBytes;
  let total = 0;
  const check = (): void => {
    if (total > limit) throw tooLarge(limit, 'bytes');
  };
  return {
    blocks: read(),
    lowerLimit(to) {
      limit = Math.min(limit, to);
      check();
    },
    received: () => total,
  };

  async function* read(): AsyncGenerator<Buffer, void, undefined> {
    let held: Buffer[] = [];
    let length = 0;
    for await (const chunk of input) {
      total += chunk.byteLength;
      check();
      held.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      length += chunk.byteLength;
      if (length < BLOCK_BYTES) continue;
      yield joinedBuffers(held);
      held = [];
      length = 0;
    }
    if (length > 0) yield joinedBuffers(held);
  }
}

const joinedBuffers = (pieces: readonly Buffer[]): Buffer => {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
};
