/** Stores a file as a list, and reads a stored one in another way. */
import { type AddressFile, type Reading, readAddressFile } from '../../files/read-file.ts';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { FEW_ADDRESSES_PER_ROW, LIST_BYTES } from '../../kernel/facts/limits.ts';
import { DEFAULT_DEDUPE, type Dedupe, type ListError, type ReadChoice, type SentAs } from '../../kernel/facts/lists.ts';
import type { Level } from '../../kernel/facts/plans.ts';
import type { Policy } from '../../kernel/facts/policies.ts';
import { grouped } from '../../kernel/format.ts';
import { newId } from '../../kernel/ids.ts';
import type { AccountId, Actor, List, ListLayout, ListSummary, Lists, ReplyToStore } from '../../store/store.ts';
import { ownerOf } from '../../store/test-account.ts';
import { BlockWriter, uploadGivenUp } from './block-writer.ts';
import { withoutFileError } from './file-error.ts';
import { GiveWay } from './give-way.ts';
import { spooled } from './spooled.ts';

interface Upload {
  readonly account: AccountId;
  /** Under which results are recorded. */
  readonly keyId: string;
  /** Of the uploader. */
  readonly ip: string;
  readonly name: string;
  readonly level: Level;
  readonly policy: Policy | null;
  readonly patienceMinutes: number;
  readonly read: ReadChoice;
  readonly dedupe: Dedupe;
  readonly sentAs: SentAs;
  readonly input: AsyncIterable<Uint8Array>;
}

/** A change of a list that is not started. */
export interface ListReading {
  readonly read?: ReadChoice;
  readonly dedupe?: Dedupe;
}

const NOTHING_SAID: SentAs = { form: null, charset: null };

/** About as long as a batch takes. */
const REST_MS = 3;

interface UploadParts {
  readonly lists: Lists;
  readonly clock: Clock;
  /** How many there were so far. */
  readonly singleCalls: () => number;
}

/**
 * `stored`: the reply for an Idempotency-Key. Throws ApiError for a file that is no list; then, and when the input
 * fails, nothing is left of it.
 */
export async function storeUpload(
  { lists, clock, singleCalls }: UploadParts,
  upload: Upload,
  by: Actor,
  stored: ReplyToStore<List> | null,
): Promise<List> {
  const { account, keyId, ip, name, level, policy, patienceMinutes, read, dedupe, sentAs, input } = upload;
  const id = newId('lst', clock.now());
  try {
    const file = await readAddressFile(input, {
      ...{ ...read, ...sentAs },
      limits: { party: ownerOf(account) },
    });
    try {
      const layout = layoutOf(file.reading, { chosen: read, dedupe, sentAs });
      const row = { id, account, keyId, clientIp: ip, name, level, policy, patienceMinutes, layout };
      const room = await lists.create(row);
      const append = lists.append.bind(null, account, id);
      const writer = new BlockWriter({ layout, room, append, received: file.received });
      await writeRows(file, writer, new GiveWay(clock, singleCalls));
      const list = await lists.finish(account, id, writer.counts, { by, stored, summary: summaryOf(file, writer) });
      if (list === null) throw uploadGivenUp();
      return list;
    } finally {
      await file.close();
    }
  } catch (error) {
    await lists.discard(account, id);
    throw withoutFileError(error);
  }
}

/**
 * Reads the kept file of a list that is ready; what is missing in `change` is as it was. Throws ApiError `list_state`,
 * and what is wrong with the file then.
 */
export async function readAgain(
  { lists, clock, singleCalls }: UploadParts,
  { id, account, status, hasFile, layout: before }: List,
  change: ListReading,
): Promise<List> {
  const { chosen = {}, dedupe = DEFAULT_DEDUPE, sentAs = NOTHING_SAID } = before;
  const { read = chosen } = change;
  if (status !== 'ready')
    throw new ApiError('list_state', `The list is ${status}; its file is kept until it starts.`, { status });
  if (!hasFile) throw noFile();
  const { input, close } = await spooled(lists.file(account, id), LIST_BYTES);
  try {
    const file = await readAddressFile(input, { ...read, ...sentAs, limits: { party: ownerOf(account) } });
    const reading = await lists.beginReading(account, id);
    try {
      const layout = layoutOf(file.reading, { chosen: read, dedupe: change.dedupe ?? dedupe, sentAs });
      const append = lists.appendReading.bind(null, account, id, reading);
      const writer = new BlockWriter({ layout, room: reading.room, append, received: file.received });
      await writeRows(file, writer, new GiveWay(clock, singleCalls));
      const [rows, summary] = [writer.counts, summaryOf(file, writer)];
      const error = startProblem({ rows, summary });
      const list = await lists.replace(account, id, reading, { layout, rows, summary, blocks: writer.blocks, error });
      if (list === null) throw noFile();
      return list;
    } catch (error) {
      await lists.discardReading(account, id, reading);
      throw error;
    } finally {
      await file.close();
    }
  } catch (error) {
    throw withoutFileError(error);
  } finally {
    await close();
  }
}

const noFile = () =>
  new ApiError('list_state', 'The file of the list is not kept any more; upload it again.', { status: 'ready' });

const layoutOf = (
  { columns, addressColumns, hasNames, headerRow, ...found }: Reading,
  asked: Required<Pick<ListLayout, 'chosen' | 'dedupe' | 'sentAs'>>,
): ListLayout => {
  const { format, delimiter, encoding, byteOrderMark, sheet, entry } = found;
  const [addressColumn = 0] = addressColumns;
  return {
    ...{ columns, addressColumns, addressColumn, hasHeader: hasNames, headerRow },
    ...{ format, delimiter, encoding, byteOrderMark, sheet, entry },
    ...asked,
  };
};

const summaryOf = (file: AddressFile, { filledRows }: BlockWriter): ListSummary => ({ ...file.summary(), filledRows });

/** Why a list does not start by itself; null: it does. */
export function startProblem({ rows, summary }: Pick<List, 'rows' | 'summary'>): ListError | null {
  if (rows.addresses === 0) return { code: 'no_addresses', error: 'No row of the list has an address.' };
  if (summary === null || summary.rowsWithAddress * FEW_ADDRESSES_PER_ROW >= summary.filledRows) return null;
  const found = `${grouped(summary.rowsWithAddress)} of ${grouped(summary.filledRows)} rows have an address`;
  return {
    code: 'few_addresses',
    error: `Only ${found}: look at how the file was read, then start the list, or read it in another way.`,
  };
}

async function writeRows({ batches }: AddressFile, writer: BlockWriter, way: GiveWay): Promise<void> {
  for await (const { rows } of batches) {
    const { blocks } = way.steps();
    for (const { line, problem, ...row } of rows) {
      const broken = problem === null ? null : { code: problem, line };
      if (writer.add({ ...row, problem: broken }, blocks)) await writer.store();
    }
    // Input that is already here, in memory or a file, leaves no other gap for requests.
    await way.rest(REST_MS);
  }
  await writer.end();
}
