/** Input that has to be read to its end before it can be used, such as a file whose options come after it. */
import { inputBlocks } from '../../files/input-blocks.ts';
import { SpooledInput, spool } from '../../files/spool.ts';
import { withoutFileError } from './file-error.ts';

export interface Spooled {
  readonly input: SpooledInput;
  close(): Promise<void>;
}

/** A large input is kept in a temporary file without a name. Throws ApiError for more than `maxBytes`. */
export async function spooled(input: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Spooled> {
  try {
    const file = await spool(inputBlocks(input, maxBytes).blocks);
    return { input: new SpooledInput(file), close: () => file.close() };
  } catch (error) {
    throw withoutFileError(error);
  }
}
