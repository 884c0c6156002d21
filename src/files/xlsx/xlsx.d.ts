/** What the library exports beside its types. */
import type { ParsingOptions, WorkBook } from '@e965/xlsx';

declare module '@e965/xlsx' {
  /** `parts`: a container of its CFB. */
  export function parse_zip(parts: unknown, options?: ParsingOptions): WorkBook;
}
