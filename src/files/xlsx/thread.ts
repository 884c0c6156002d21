/** The code of a thread that reads workbooks and writes XLSX files: packing and XML compute for long. */
import { answerCalls } from '../../kernel/thread.ts';
import { FileError } from '../problems.ts';
import { openSheet } from './read.ts';
import { type ReadOrder, rowsOf, type SheetPiece, type Unreadable, type WriteOrder } from './thread-messages.ts';
import { type Written, writeRows } from './write.ts';

/** `next`: whether to go on. */
async function read(
  { source, format, sheet, limits }: ReadOrder,
  next: (piece: SheetPiece) => Promise<boolean>,
): Promise<null> {
  const { name, others, batches } = await openSheet(source, format, sheet, limits);
  if (!(await next({ kind: 'sheet', name, others }))) return null;
  for await (const { rows, bytes } of batches) {
    if (rows.length === 0) continue;
    const tooLarge = rows.flatMap(({ line, problem }) => (problem === null ? [] : [line]));
    const [lines, widths] = [rows.map(({ line }) => line), rows.map(({ cells }) => cells.length)];
    if (!(await next({ kind: 'rows', lines, widths, cells: rows.flatMap(({ cells }) => cells), tooLarge, bytes })))
      return null;
  }
  return null;
}

answerCalls<ReadOrder | WriteOrder, Written | Unreadable | null, SheetPiece, boolean>(async (order, scope) => {
  try {
    if (order.kind === 'read') return await read(order, (piece) => scope.ask(piece));
    return writeRows(order.state, rowsOf(order.widths, order.cells));
  } catch (error) {
    // A message has no classes.
    if (error instanceof FileError) return { problem: error.problem, message: error.message };
    throw error;
  }
});
