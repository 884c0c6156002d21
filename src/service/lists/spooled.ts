/** Input that has to be read to its end before it can be used, such as a file whose options come after it. */
import { inputBlocks } from '../../files/input-blocks.ts';
import { type RandomAccess, spool } from '../../files/spool.ts';
import { withoutFileError } from './file-error.ts';

export interface Spooled {
  readonly input: AsyncIterable<Buffer>;
  close(): Promise<void>;
}

const PIECE_BYTES = 128 * 1024;

/** In a temporary file without a name, if it is large. Throws ApiError for more than `maxBytes`. */
export async function spooled(input: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Spooled> {
  try {
    const file = await spool(inputBlocks(input, maxBytes).blocks);
    return { input: piecesOf(file), close: () => file.close() };
  } catch (error) {
    throw withoutFileError(error);
  }
}

async function* piecesOf(file: RandomAccess): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < file.size; at += PIECE_BYTES) yield await file.read(at, PIECE_BYTES);
}
