/** Stores an uploaded file as a list, as it arrives. */
import type { FileForm } from '../../files/forms.ts';
import { type AddressFile, readAddressFile } from '../../files/read-file.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Level } from '../../kernel/facts/plans.ts';
import { newId } from '../../kernel/ids.ts';
import type { AccountId, Actor, List, Lists, ReplyToStore } from '../../store/store.ts';
import { ownerOf } from '../../store/test-account.ts';
import { BlockWriter, uploadGivenUp } from './block-writer.ts';
import { withoutFileError } from './file-error.ts';
import { GiveWay } from './give-way.ts';

interface Upload {
  readonly account: AccountId;
  /** Under which results are recorded. */
  readonly keyId: string;
  /** Of the uploader. */
  readonly ip: string;
  readonly name: string;
  readonly level: Level;
  readonly patienceMinutes: number;
  readonly column: string | null;
  readonly header: 'auto' | boolean;
  /** What the sender says the file is; null: to be found out. */
  readonly form: FileForm | null;
  readonly input: AsyncIterable<Uint8Array>;
}

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
  const { account, keyId, ip, name, level, patienceMinutes, column, header, form, input } = upload;
  const id = newId('lst', clock.now());
  try {
    const file = await readAddressFile(input, {
      form,
      columns: column === null ? null : [column],
      headerRow: header === 'auto' ? null : Number(header),
      limits: { party: ownerOf(account) },
    });
    try {
      const { columns, addressColumns, hasNames, format, delimiter } = file.reading;
      const layout = { columns, addressColumn: addressColumns[0] ?? 0, hasHeader: hasNames, format, delimiter };
      const room = await lists.create({ id, account, keyId, clientIp: ip, name, level, patienceMinutes, layout });
      const writer = new BlockWriter(lists, { account, id, room, received: file.received });
      await writeRows(file, writer, new GiveWay(clock, singleCalls));
      const list = await lists.finish(account, id, writer.counts, by, stored);
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

async function writeRows({ batches }: AddressFile, writer: BlockWriter, way: GiveWay): Promise<void> {
  for await (const { rows } of batches) {
    const { blocks } = way.steps();
    for (const { line, problem, addresses, ...row } of rows) {
      const broken = problem === null ? null : { code: problem, line };
      const address = addresses[0]?.text ?? null;
      if (writer.add({ ...row, address, problem: broken }, blocks)) await writer.store();
    }
    // Input that is already here, in memory or a file, leaves no other gap for requests.
    await way.rest(REST_MS);
  }
  await writer.end();
}
