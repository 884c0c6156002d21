/** A thread that reads workbooks and writes XLSX files, one at a time: packing and XML compute for long. */
import { parentPort } from 'node:worker_threads';
import { FileError } from '../problems.ts';
import { openSheet } from './read.ts';
import { type Order, rowsOf, type WorkbookReport } from './thread-messages.ts';
import { writeRows } from './write.ts';

const send = (report: WorkbookReport): void => parentPort?.postMessage(report);

/** Whether the reading was told to end, and what wakes it. */
let stopped = false;
let wake: () => void = () => undefined;

async function read({ source, format, sheet, limits }: Extract<Order, { kind: 'read' }>): Promise<void> {
  stopped = false;
  const { name, others, batches } = await openSheet(source, format, sheet, limits);
  let asked = woken();
  if (!stopped) send({ kind: 'sheet', name, others });
  if (!stopped) await asked;
  for await (const { rows, bytes } of batches) {
    if (stopped) break;
    if (rows.length === 0) continue;
    asked = woken();
    const tooLarge = rows.flatMap(({ line, problem }) => (problem === null ? [] : [line]));
    const [lines, widths] = [rows.map(({ line }) => line), rows.map(({ cells }) => cells.length)];
    send({ kind: 'rows', lines, widths, cells: rows.flatMap(({ cells }) => cells), tooLarge, bytes });
    await asked;
    if (stopped) break;
  }
  send({ kind: 'end' });
}

const woken = (): Promise<void> =>
  new Promise((resolve) => {
    wake = resolve;
  });

function fail(error: unknown): void {
  const problem = error instanceof FileError ? error.problem : null;
  send({ kind: 'failed', problem, message: error instanceof Error ? error.message : String(error) });
}

parentPort?.on('message', (order: Order) => {
  switch (order.kind) {
    case 'read':
      read(order).catch(fail);
      break;
    case 'stop':
      stopped = true;
      wake();
      break;
    case 'more':
      wake();
      break;
    case 'write':
      try {
        send({ kind: 'written', ...writeRows(order.state, rowsOf(order.widths, order.cells)) });
      } catch (error) {
        fail(error);
      }
      break;
  }
});
