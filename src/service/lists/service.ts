/** Lists of addresses: the operations. Verification itself is background work. */
import { createHash } from 'node:crypto';
import { type AddressFile, type Reading, readAddressFile } from '../../files/read-file.ts';
import type { SpooledInput } from '../../files/spool.ts';
import { type CsvDialect, dialectOf } from '../../files/write-results.ts';
import { type Clock, toIso } from '../../kernel/clock.ts';
import { ApiError, isInProgress } from '../../kernel/errors.ts';
import {
  FEW_ADDRESSES_PER_ROW,
  LIST_BYTES,
  LIST_DEFERRED_SHOWN,
  LIST_JSON_ADDRESSES,
  LIST_RETRY_MINUTES,
  NAME_LENGTH,
} from '../../kernel/facts/limits.ts';
import {
  DEFAULT_DEDUPE,
  type Dedupe,
  hasEnded,
  LIST_ACTION_STATUSES,
  type ListAction,
  type ListError,
  type ReadChoice,
  type ResultFormat,
  type SentAs,
} from '../../kernel/facts/lists.ts';
import { DEFAULT_LEVEL, type Level, planWithLevel, termsOf } from '../../kernel/facts/plans.ts';
import type { Policy } from '../../kernel/facts/policies.ts';
import type { HeldPlace } from '../../kernel/fair-queue.ts';
import { choice, counted, grouped } from '../../kernel/format.ts';
import { newId, restListId } from '../../kernel/ids.ts';
import { DASHBOARD_KEY } from '../../kernel/log-origins.ts';
import { listObject } from '../../store/lists/object.ts';
import type {
  AccountId,
  Actor,
  ByPage,
  IdempotencyRef,
  List,
  ListChange,
  ListLayout,
  ListRow,
  ListStart,
  ListSummary,
  Lists,
  ReplyToStore,
  Store,
} from '../../store/store.ts';
import { ownerOf } from '../../store/test-account.ts';
import { actorFor, type ChangedBy } from '../audit-log.ts';
import type { Costs } from '../costs.ts';
import { UNSAFE_CHARACTERS } from '../link-text.ts';
import type { PolicyService } from '../policies.ts';
import { BlockWriter, uploadGivenUp } from './block-writer.ts';
import { withoutFileError } from './file-error.ts';
import { GiveWay } from './give-way.ts';
import {
  blocksOf,
  noSuchList,
  type RowEntry,
  type RowFilter,
  resultEntries,
  resultsFile,
  rowsPage,
} from './results.ts';
import { spooled } from './spooled.ts';

export type { List };
export { listObject };

/** Says who uploads. */
interface Uploader {
  readonly account: AccountId;
  /** Null: that of the account is looked up. */
  readonly plan: string | null;
  /** Results are recorded under this key. */
  readonly keyId: string;
  readonly ip: string;
}

/** What was uploaded. Null, or missing: the default. */
export interface UploadRequest {
  readonly name?: string | undefined;
  readonly level?: Level | undefined;
  /** Name of the policy that decides from its results. */
  readonly policy?: string | undefined;
  readonly read?: ReadChoice;
  readonly dedupe?: Dedupe | undefined;
  /** Whether to start it at once; what prevents that becomes the `error` of the list. */
  readonly start?: boolean | undefined;
  readonly retryMinutes?: number | undefined;
  readonly fileName: string | null;
  readonly sentAs: SentAs;
  readonly input: SpooledInput;
  close(): Promise<void>;
}

/** It belongs to an Idempotency-Key. */
type UploadKey = Pick<IdempotencyRef, 'route' | 'key'>;

interface Uploaded {
  readonly list: List;
  /** False: an earlier upload with the same key has made it. */
  readonly isFirst: boolean;
}

interface ResultsWanted {
  readonly format: ResultFormat;
  readonly filter: RowFilter;
  /** Null means as in the uploaded file. */
  readonly dialect?: { readonly [K in keyof CsvDialect]?: CsvDialect[K] | null };
}

export interface ListDetail {
  readonly list: List;
  readonly key: { readonly id: string; readonly name: string } | null;
  readonly nextRetryAt: number | null;
  /** Id of the list that has its remaining addresses. */
  readonly rest: string | null;
}

export function createListService(parts: {
  store: Pick<Store, 'lists' | 'keys' | 'accounts' | 'idempotency' | 'plans'>;
  clock: Clock;
  costs: Costs;
  policies: Pick<PolicyService, 'named'>;
  /** How many there were so far: uploads leave them the processor. */
  singleCalls: () => number;
}) {
  const { store, clock, costs, policies, singleCalls } = parts;
  const listeners = new Set<() => void>();
  const { lists } = store;
  const actorOf = actorFor(store.keys);

  async function find(account: AccountId, id: string): Promise<List> {
    const list = await lists.get(account, id);
    if (list === null) throw noSuchList(id);
    return list;
  }

  /**
   * `known`: the plan of a caller who was admitted; null: a member's account is looked up. Throws ApiError
   * `plan_upgrade_required`.
   */
  async function checkPlan(account: AccountId, known: string | null, level: Level): Promise<void> {
    const plan = known ?? (await store.accounts.get(account))?.plan;
    if (plan === undefined || termsOf(store.plans, plan).levels.includes(level)) return;
    const upgrade = planWithLevel(store.plans, level);
    throw new ApiError('plan_upgrade_required', undefined, {
      current_plan: plan,
      ...(upgrade === null ? {} : { upgrade_required: upgrade }),
    });
  }

  function running(list: List): List {
    if (list.status === 'running') for (const listener of listeners) listener();
    return list;
  }

  async function start(list: List, by: Actor): Promise<List> {
    const outcome = await lists.start(list.account, list.id, by);
    if (outcome.outcome === 'done') return running(outcome.list);
    const refusal = uploadRefusal(list.id, 'start', outcome);
    await lists.setError(list.account, list.id, listErrorOf(refusal));
    return find(list.account, list.id);
  }

  async function startUploaded(list: List, by: Actor): Promise<List> {
    const problem = startProblem(list);
    if (problem === null) return start(list, by);
    await lists.setError(list.account, list.id, problem);
    return find(list.account, list.id);
  }

  async function uploadedBefore(account: AccountId, ref: IdempotencyRef): Promise<Uploaded | null> {
    const reply = await store.idempotency.find(account, ref);
    return reply && { list: await find(account, JSON.parse(reply.body).id), isFirst: false };
  }

  async function uploadNow(
    { account, plan, keyId, ip }: Uploader,
    request: UploadRequest,
    by: Actor,
    ref: IdempotencyRef | null,
  ): Promise<Uploaded> {
    const { name, fileName, read = {}, dedupe = DEFAULT_DEDUPE, sentAs, input } = request;
    const policy = request.policy === undefined ? null : await policies.named(account, request.policy);
    const level = request.level ?? policy?.level ?? DEFAULT_LEVEL;
    await checkPlan(account, plan, level);
    const retryMinutes = request.retryMinutes ?? LIST_RETRY_MINUTES.default;
    const shown = name ?? fileBaseName(fileName) ?? toIso(clock.now());
    const named = { name: shown, fileName, level, policy, retryMinutes };
    const upload = { account, keyId, ip, ...named, read, dedupe, sentAs, input };
    // The list is answered as it is then, so that its id is all there is to keep.
    const stored = ref && {
      ref,
      replyTo: ({ id }: List) => ({ status: 201, headers: {}, body: JSON.stringify({ id }) }),
    };
    try {
      return { list: await storeUpload({ lists, clock, singleCalls }, upload, by, stored), isFirst: true };
    } catch (error) {
      const before = ref && isInProgress(error) ? await uploadedBefore(account, ref) : null;
      if (before === null) throw error;
      return before;
    }
  }

  return {
    ...createListCopies({ lists, clock, find, checkPlan, start, costs }),

    /**
     * `read` is called once there is room for another upload, and tells its place what arrives. Throws ApiError:
     * `overloaded`, `plan_upgrade_required`, `policy_not_found`, and what is wrong with the file. `once`: the same
     * upload again makes no further list; then also `idempotency_key_reused` for another upload, and `not_found` where
     * the list was deleted.
     */
    async upload(
      uploader: Uploader,
      by: ChangedBy,
      read: (place: HeldPlace) => Promise<UploadRequest>,
      once: UploadKey | null = null,
    ) {
      const place = await costs.hold('list_upload', uploader.account);
      try {
        const actor = await actorOf(by);
        const request = await read(place);
        try {
          const ref = once && { ...once, fingerprint: await fingerprintOf(request) };
          const before = ref && (await uploadedBefore(uploader.account, ref));
          const { list, isFirst } = before ?? (await uploadNow(uploader, request, actor, ref));
          // The first upload may have ended before its list was started.
          const isDue = request.start !== false && list.status === 'ready' && list.error === null;
          const begun = isDue ? await startUploaded(list, actor) : list;
          if (begun.status !== 'ready' || !isFirst) return { list: begun, isFirst };
          const isKept = await lists.keepFile(uploader.account, list.id, request.input);
          return { list: { ...begun, hasFile: isKept }, isFirst };
        } finally {
          await request.close();
        }
      } finally {
        place.release();
      }
    },

    /** Throws ApiError `not_found`, also for a list of another account; so do all that follow. */
    get: find,

    list: (account: AccountId, { page, perPage, ...wanted }: ByPage<Parameters<typeof lists.list>[1]>) =>
      lists.list(account, { ...wanted, offset: (page - 1) * perPage, limit: perPage }),

    /** With the key that uploaded it, null for the dashboard, and when a deferred address is asked about again. */
    async describe(account: AccountId, id: string) {
      const list = await find(account, id);
      const [next] = list.waiting === 0 ? [] : await lists.deferred(account, id, 1);
      const nextRetryAt = next?.retryAt ?? null;
      const rest = hasEnded(list.status) ? ((await lists.get(account, restListId(id)))?.id ?? null) : null;
      if (list.keyId === DASHBOARD_KEY) return { list, key: null, nextRetryAt, rest };
      return {
        list,
        rest,
        key: { id: list.keyId, name: (await store.keys.get(list.keyId))?.name ?? list.keyId },
        nextRetryAt,
      };
    },

    /** Returns at most LIST_DEFERRED_SHOWN, the soonest first. */
    async deferred(account: AccountId, id: string) {
      await find(account, id);
      return lists.deferred(account, id, LIST_DEFERRED_SHOWN);
    },

    /**
     * `level`: to start it at; missing: its own. Throws ApiError `list_state`, `insufficient_credits`,
     * `key_budget_spent`, `plan_upgrade_required`.
     */
    async change(account: AccountId, id: string, action: ListAction, by: ChangedBy, level?: Level) {
      const actor = await actorOf(by);
      if (action === 'start') {
        const list = await find(account, id);
        // The plan may have changed since the upload.
        if (list.status === 'ready') await checkPlan(account, null, level ?? list.level);
      }
      const outcome =
        action === 'start'
          ? await lists.start(account, id, actor, level)
          : await lists.change(account, id, action, actor);
      if (outcome.outcome !== 'done') throw uploadRefusal(id, action, outcome);
      return running(outcome.list);
    },

    /**
     * Reads the file of a list that is ready again, or compares its rows in another way. Throws ApiError `list_state`,
     * also where the file is not kept, and what is wrong with the file when it is read like this.
     */
    async read(account: AccountId, id: string, change: UploadReading) {
      const list = await find(account, id);
      const place = await costs.hold('list_upload', account);
      place.keep();
      try {
        return await rereadList({ lists, clock, singleCalls }, list, change);
      } finally {
        place.release();
      }
    },

    /** `listener` is called when a list was started or resumed in this process. */
    onRunning: (listener: () => void) => void listeners.add(listener),

    rows: async (
      account: AccountId,
      id: string,
      page: RowFilter & { readonly after: number; readonly limit: number },
    ) => rowsPage(lists, await find(account, id), page),

    /**
     * CSV in the dialect of the uploaded file, or as `dialect` says. Throws ApiError `rate_limit_exceeded` while there
     * are too many at once, `invalid_parameter`. `file` is to be read or ended; `encoding` is that of CSV.
     */
    async results(account: AccountId, id: string, { format, filter, dialect: wanted = {} }: ResultsWanted) {
      const list = await find(account, id);
      const dialect = dialectOf(list.layout, wanted);
      if (dialect === null)
        throw new ApiError('invalid_parameter', `Results are not written in ${wanted.encoding}.`, {
          field: 'encoding',
        });
      const pieces = resultsFile(lists, list, format, dialect, filter);
      return { list, encoding: dialect.encoding, file: await costs.read('list_download', account, pieces) };
    },
  };
}

export type ListService = ReturnType<typeof createListService>;

function uploadRefusal(
  id: string,
  action: ListAction,
  outcome: Exclude<ListStart | ListChange, { outcome: 'done' }>,
): ApiError {
  switch (outcome.outcome) {
    case 'not_found':
      return noSuchList(id);
    case 'list_state': {
      const { status } = outcome.list;
      const message = `The list is ${status}; ${action} is possible only while it is ${choice(LIST_ACTION_STATUSES[action])}.`;
      return new ApiError('list_state', message, { status });
    }
    case 'account_inactive':
      return new ApiError('list_state', 'The account is suspended.', { status: outcome.list.status });
    case 'no_addresses':
      return new ApiError('no_addresses', 'No row of the list has an address.');
    case 'insufficient_credits': {
      const { needed, available } = outcome;
      const message = `The list needs ${counted(needed, 'credit')}; ${grouped(available)} are available.`;
      return new ApiError('insufficient_credits', message, { needed, available });
    }
    case 'key_budget_spent': {
      const { needed, budget } = outcome;
      const message = `The list needs ${counted(needed, 'credit')}, which the monthly budget of its API key does not cover.`;
      return new ApiError('key_budget_spent', message, { needed, budget, resets_at: toIso(outcome.resetsAt) });
    }
  }
}

/** The fingerprint covers the bytes of the file and everything that decides what becomes of them. */
async function fingerprintOf({ input, close: _close, ...options }: UploadRequest): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(options));
  for await (const piece of input) hash.update(piece);
  return hash.digest('hex');
}

const listErrorOf = ({ code, message }: ApiError): ListError => ({ code, error: message });

/** The last part of a path, as some clients send one; null where nothing is left of it. */
function fileBaseName(fileName: string | null): string | null {
  const name =
    fileName?.split(/[/\\]/).at(-1)?.replaceAll(UNSAFE_CHARACTERS, '').trim().slice(0, NAME_LENGTH.max) ?? '';
  return name === '' ? null : name;
}

// New lists from the rows of another one: those whose result is unknown.

/** The preview shows this many. */
const FIRST_ROWS = 5;

interface Copy {
  readonly source: List;
  /** The new list gets this ID; null means that one is made. */
  readonly id: string | null;
  readonly name: string;
  readonly level: Level;
  readonly layout: ListLayout;
  readonly keep: (entry: RowEntry) => boolean;
}

interface ListServiceParts {
  readonly lists: Lists;
  readonly clock: Clock;
  readonly find: (account: AccountId, id: string) => Promise<List>;
  /** Throws ApiError `plan_upgrade_required`. */
  readonly checkPlan: (account: AccountId, plan: string | null, level: Level) => Promise<void>;
  readonly start: (list: List, by: Actor) => Promise<List>;
  readonly costs: Costs;
}

function createListCopies({ lists, clock, find, checkPlan, start, costs }: ListServiceParts) {
  async function copied(copy: Copy, by: Actor): Promise<List> {
    const { source, name, level, layout } = copy;
    const { account, retryMinutes, policy } = source;
    const place = await costs.hold('list_upload', account);
    const id = copy.id ?? newId('lst', clock.now());
    let isMine = false;
    try {
      const clientIp = by.ip ?? null;
      const room = await lists.create({
        id,
        account,
        keyId: DASHBOARD_KEY,
        clientIp,
        name,
        level,
        policy,
        retryMinutes,
        layout,
      });
      isMine = true;
      const append = lists.append.bind(null, account, id);
      const writer = new BlockWriter({ layout, room, append, received: null });
      await storeRows(writer, copy);
      const list = await lists.finish(account, id, writer.counts, { by });
      if (list === null) throw uploadGivenUp();
      return list;
    } catch (error) {
      // Not that of somebody who asks for the same at the same time.
      if (isMine) await lists.discard(account, id);
      throw error;
    } finally {
      place.release();
    }
  }

  async function storeRows(writer: BlockWriter, { source, keep }: Copy): Promise<void> {
    let rows = 0;
    for await (const block of blocksOf(lists, source)) {
      // Of a row with several addresses, those that are kept.
      const kept = [...resultEntries(source, block)].filter(keep);
      for (const [{ cells, extra, problem }, entries] of Map.groupBy(kept, ({ row }) => row)) {
        rows += 1;
        const addresses = entries.flatMap(({ address }) => address ?? []);
        if (writer.add({ row: rows, cells, extra, addresses, problem })) await writer.store();
      }
    }
    await writer.end();
  }

  return {
    /**
     * Starts a new list of the rows whose address is unknown. What prevents its start becomes its `error`. Throws
     * ApiError `list_state` where the list has not ended, or has no such rows.
     */
    async retryUnknown(account: AccountId, id: string, level: Level, by: Actor) {
      await checkPlan(account, null, level);
      const source = await find(account, id);
      const { status, layout, breakdown } = source;
      if (!hasEnded(status)) throw state(source, 'addresses are retried when it has ended');
      if (breakdown.deliverability.unknown === 0) throw state(source, 'and none of its addresses is unknown');
      const name = `Retry of ${source.name}`.slice(0, NAME_LENGTH.max);
      const keep = ({ view }: RowEntry) => view.deliverability === 'unknown';
      return start(await copied({ source, id: null, name, level, layout, keep }, by), by);
    },

    /**
     * Starts a new list of the addresses that a canceled or failed list did not verify, at its level: none is verified
     * twice, as there can be one such list. What prevents its start becomes its `error`. Throws ApiError `list_state`.
     */
    async verifyRest(account: AccountId, id: string, by: Actor) {
      const source = await find(account, id);
      const { status, level, layout, rows, done } = source;
      if (status !== 'cancelled' && status !== 'failed')
        throw state(source, 'the rest is verified of one that was canceled or has failed');
      if (done >= rows.addresses) throw state(source, 'and all of its addresses are verified');
      await checkPlan(account, null, level);
      const name = `Rest of ${source.name}`.slice(0, NAME_LENGTH.max);
      const keep = ({ view, address }: RowEntry) => address !== null && view.status === null;
      return start(await copied({ source, id: restListId(id), name, level, layout, keep }, by), by);
    },

    /** Returns the first rows of the file. */
    firstRows: async (account: AccountId, id: string) => rowsAfter(await find(account, id), 0, FIRST_ROWS),
  };

  async function rowsAfter({ account, id }: List, after: number, count: number): Promise<ListRow[]> {
    return (await lists.block(account, id, after))?.rows.slice(0, count) ?? [];
  }
}

const state = ({ status }: List, why: string): ApiError =>
  new ApiError('list_state', `The list is ${status}; ${why}.`, { status });

// Stores a file as a list, and reads a stored one in another way.

interface ListUploadOrder {
  readonly account: AccountId;
  /** Results are recorded under this key. */
  readonly keyId: string;
  readonly ip: string;
  readonly name: string;
  readonly level: Level;
  readonly policy: Policy | null;
  readonly retryMinutes: number;
  readonly read: ReadChoice;
  readonly dedupe: Dedupe;
  readonly sentAs: SentAs;
  readonly input: AsyncIterable<Uint8Array>;
}

/** A change of a list that is not started. */
interface UploadReading {
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

const readLimitsOf = (account: AccountId, { form }: SentAs) => ({
  party: ownerOf(account),
  ...(form === 'json' && { rows: LIST_JSON_ADDRESSES.max }),
});

/**
 * `stored`: the reply for an Idempotency-Key. Throws ApiError for a file that is no list; then, and when the input
 * fails, nothing is left of it.
 */
async function storeUpload(
  { lists, clock, singleCalls }: UploadParts,
  upload: ListUploadOrder,
  by: Actor,
  stored: ReplyToStore<List> | null,
): Promise<List> {
  const { account, keyId, ip, name, level, policy, retryMinutes, read, dedupe, sentAs, input } = upload;
  const id = newId('lst', clock.now());
  try {
    const file = await readAddressFile(input, { ...read, ...sentAs, limits: readLimitsOf(account, sentAs) });
    try {
      const layout = readListLayout(file.reading, { chosen: read, dedupe, sentAs });
      const row = { id, account, keyId, clientIp: ip, name, level, policy, retryMinutes, layout };
      const room = await lists.create(row);
      const append = lists.append.bind(null, account, id);
      const writer = new BlockWriter({ layout, room, append, received: file.received });
      await storeRows(file, writer, new GiveWay(clock, singleCalls));
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
async function rereadList(
  { lists, clock, singleCalls }: UploadParts,
  { id, account, status, hasFile, layout: before }: List,
  change: UploadReading,
): Promise<List> {
  const { chosen = {}, dedupe = DEFAULT_DEDUPE, sentAs = NOTHING_SAID } = before;
  const { read = chosen } = change;
  if (status !== 'ready')
    throw new ApiError('list_state', `The list is ${status}; its file is kept until it starts.`, { status });
  if (!hasFile) throw noFile();
  const { input, close } = await spooled(lists.file(account, id), LIST_BYTES);
  try {
    const file = await readAddressFile(input, { ...read, ...sentAs, limits: readLimitsOf(account, sentAs) });
    const reading = await lists.beginReading(account, id);
    try {
      const layout = readListLayout(file.reading, { chosen: read, dedupe: change.dedupe ?? dedupe, sentAs });
      const append = lists.appendReading.bind(null, account, id, reading);
      const writer = new BlockWriter({ layout, room: reading.room, append, received: file.received });
      await storeRows(file, writer, new GiveWay(clock, singleCalls));
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

const readListLayout = (
  { columns, addressColumns, hasNames, headerRow, ...found }: Reading,
  asked: Required<Pick<ListLayout, 'chosen' | 'dedupe' | 'sentAs'>>,
): ListLayout => {
  const { format, delimiter, encoding, byteOrderMark, sheet, entry } = found;
  const [addressColumn = 0] = addressColumns;
  return {
    columns,
    addressColumns,
    addressColumn,
    hasHeader: hasNames,
    headerRow,
    format,
    delimiter,
    encoding,
    byteOrderMark,
    sheet,
    entry,
    ...asked,
  };
};

const summaryOf = (file: AddressFile, { filledRows }: BlockWriter): ListSummary => ({ ...file.summary(), filledRows });

/** Why a list does not start by itself; null: it does. */
function startProblem({ rows, summary }: Pick<List, 'rows' | 'summary'>): ListError | null {
  if (rows.addresses === 0) return { code: 'no_addresses', error: 'No row of the list has an address.' };
  if (summary === null || summary.rowsWithAddress * FEW_ADDRESSES_PER_ROW >= summary.filledRows) return null;
  const found = `${grouped(summary.rowsWithAddress)} of ${grouped(summary.filledRows)} rows have an address`;
  return {
    code: 'few_addresses',
    error: `Only ${found}: look at how the file was read, then start the list, or read it in another way.`,
  };
}

async function storeRows({ batches }: AddressFile, writer: BlockWriter, way: GiveWay): Promise<void> {
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
