import { pause, type Transport, type Upload } from './transport.ts';
import type { CallOptions, List, ListRow, ListSource, MailvetLists } from './types.ts';

/** Rows of one page: the service's maximum. */
const ROWS_PER_PAGE = 1000;
const INTERVAL = 2000;
const DEFAULT_TYPE = 'text/csv';

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
      after = page.next;
    }
  }

  return {
    create(source, { signal, timeout, type, ...fields } = {}) {
      const call = { signal, timeout, method: 'POST', path: 'v1/lists' } as const;
      if (isAddresses(source)) return send<List>({ ...call, body: { emails: source, ...fields } });
      return send<List>({ ...call, query: { name: nameOf(source), ...fields }, upload: uploadOf(source, type) });
    },
    get,
    list: (query, call) => send({ ...call, method: 'GET', path: 'v1/lists', query }),
    start: action('start'),
    pause: action('pause'),
    resume: action('resume'),
    cancel: action('cancel'),
    remove: (list, call) => send({ ...call, method: 'DELETE', path: pathOf(list) }),
    async wait(list, { onProgress, interval = INTERVAL, ...call } = {}) {
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

function uploadOf(source: Exclude<ListSource, readonly string[]>, type: string | undefined): Upload {
  if (source instanceof Blob) return { type: type ?? (source.type || DEFAULT_TYPE), content: source };
  return {
    type: type ?? DEFAULT_TYPE,
    content: source instanceof ReadableStream ? source : streamOf(source),
  };
}

function streamOf(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel(reason) {
      await iterator.return?.(reason);
    },
  });
}
