import { foreign, pause, type Transport, type Upload } from './transport.ts';
import type { CallOptions, List, ListRow, ListSource, MailvetLists } from './types.ts';

/** Rows of one page: the service's maximum. */
const ROWS_PER_PAGE = 1000;
const INTERVAL_MS = 2000;
const DEFAULT_TYPE = 'text/csv';
/** What the service takes as the body. */
const TYPES: ReadonlySet<string> = new Set([
  DEFAULT_TYPE,
  'text/plain',
  'text/tab-separated-values',
  'application/x-ndjson',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/json',
]);

export function lists({ send, download }: Transport): MailvetLists {
  const pathOf = (list: string | { readonly id: string }, below = '') =>
    `v1/lists/${encodeURIComponent(typeof list === 'string' ? list : list.id)}${below}`;
  const get: MailvetLists['get'] = (list, call) => send({ ...call, method: 'GET', path: pathOf(list) });
  const action =
    (name: string): MailvetLists['start'] =>
    (list, call) =>
      send({ ...call, method: 'POST', path: pathOf(list, `/${name}`) });

  async function* rows(
    list: string | { readonly id: string },
    query: Parameters<MailvetLists['rows']>[1] = {},
    call: CallOptions = {},
  ): AsyncGenerator<ListRow, void, undefined> {
    for (let after: number | null = 0; after !== null; ) {
      const path = pathOf(list, '/rows');
      const page: { rows: ListRow[]; next: number | null } = await send({
        ...call,
        method: 'GET',
        path,
        query: { limit: ROWS_PER_PAGE, ...query, after },
      });
      yield* page.rows;
      // A proxy that always sends the same page would be asked without end.
      if (page.next !== null && !(page.next > after)) throw foreign(200);
      after = page.next;
    }
  }

  return {
    async create(source, { signal, timeout, idempotencyKey, type, ...fields } = {}) {
      const call = { signal, timeout, idempotencyKey, method: 'POST', path: 'v1/lists' } as const;
      if (isAddresses(source)) return send<List>({ ...call, body: { emails: source, ...fields } });
      return uploaded(source, type, (upload) =>
        send<List>({ ...call, query: { name: nameOf(source), ...fields }, upload }),
      );
    },
    get,
    list: (query, call) => send({ ...call, method: 'GET', path: 'v1/lists', query }),
    update: (list, change, call) => send({ ...call, method: 'PATCH', path: pathOf(list), body: change }),
    start: action('start'),
    pause: action('pause'),
    resume: action('resume'),
    cancel: action('cancel'),
    remove: (list, call) => send({ ...call, method: 'DELETE', path: pathOf(list) }),
    async wait(list, { onProgress, interval = INTERVAL_MS, ...call } = {}) {
      for (;;) {
        const now = await get(list, call);
        onProgress?.(now);
        if (now.status !== 'running' && now.status !== 'paused') return now;
        await pause(interval, call.signal);
      }
    },
    rows,
    results: (list, query, call) => download({ ...call, method: 'GET', path: pathOf(list, '/results'), query }),
  };
}

const isAddresses = (source: ListSource): source is readonly string[] => Array.isArray(source);

/** A File has a name. */
const nameOf = (source: object): string | undefined =>
  'name' in source && typeof source.name === 'string' && source.name !== '' ? source.name : undefined;

/** Of a file; one from a browser may have any: on Windows with Excel, a CSV file has the type of an old Excel file. */
const typeOf = ({ type }: Blob): string => (TYPES.has(type.replace(/;.*/s, '').trim()) ? type : DEFAULT_TYPE);

type FileSource = Exclude<ListSource, readonly string[]>;

/** Sends a file or stream. What the caller's own stream fails with is thrown: it says nothing about the service. */
export async function uploaded<T>(
  source: FileSource,
  type: string | undefined,
  send: (upload: Upload) => Promise<T>,
): Promise<T> {
  const failures: unknown[] = [];
  try {
    return await send(uploadOf(source, type, (error) => failures.push(error)));
  } catch (error) {
    throw failures.length > 0 ? failures[0] : error;
  }
}

/** The body of a file or stream. `onFailure`: of the caller's own stream. */
function uploadOf(source: FileSource, type: string | undefined, onFailure: (error: unknown) => void): Upload {
  if (source instanceof Blob) return { type: type ?? typeOf(source), content: source };
  const { next, end } = source instanceof ReadableStream ? readerOf(source) : iteratorOf(source);
  const content = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onFailure(error);
        throw error;
      }
    },
    cancel: end,
  });
  return { type: type ?? DEFAULT_TYPE, content };
}

interface Chunks {
  next(): Promise<IteratorResult<Uint8Array, unknown>>;
  /** No more is read. */
  end(reason: unknown): Promise<void>;
}

function readerOf(stream: ReadableStream<Uint8Array>): Chunks {
  const reader = stream.getReader();
  return { next: () => reader.read(), end: (reason) => reader.cancel(reason) };
}

function iteratorOf(source: AsyncIterable<Uint8Array>): Chunks {
  if (typeof source !== 'object' || source === null || !(Symbol.asyncIterator in source))
    throw new TypeError('The source must be a File or Blob, a stream of bytes or, for a list, an array of addresses.');
  const iterator = source[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    async end(reason) {
      await iterator.return?.(reason);
    },
  };
}
