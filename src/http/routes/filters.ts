import type { FastifyRequest } from 'fastify';
import { FILTER_TYPES, type FilterReply, type FilterRequest, readFilterRequest } from '../../contract/filters.ts';
import { type Parsed, refused } from '../../contract/schema.ts';
import { toIso } from '../../kernel/clock.ts';
import type { Filter, FilterType } from '../../service/filters.ts';
import { jsonBody } from '../body.ts';
import type { HttpContext } from '../context.ts';
import type { KeyedRoute } from '../guard.ts';
import { one, whole, word } from '../query.ts';

export const filterReply = (f: Filter): FilterReply => ({
  id: f.id,
  filter_type: f.filterType,
  value: f.value,
  reason: f.reason,
  created_at: toIso(f.createdAt),
});

export const addFilter = (context: HttpContext): KeyedRoute<FilterRequest> => ({
  idempotentAs: 'POST /v1/filters',
  read(request) {
    const body = jsonBody(request);
    return body.ok ? readFilterRequest(body.value) : body;
  },
  async serve({ filter_type, value, reason }, { caller, ip }) {
    const input = { filterType: filter_type ?? null, value, reason: reason ?? null };
    const filter = await context.filters.add(caller.accountId, input, await context.filters.actorOf(caller, ip));
    return { status: 201, body: filterReply(filter), headers: { location: `/v1/filters/${filter.id}` } };
  },
});

interface ListInput {
  filterType: FilterType | null;
  query: string | null;
  page: number;
  perPage: number;
}

const QUERY_MAX = 1024;
/** Pages are counted with OFFSET; beyond this one a search is the better way. */
export const PAGE_MAX = 1_000_000;

function readList(request: FastifyRequest): Parsed<ListInput> {
  const sent = request.query as Record<string, unknown>;
  const filterType = word(sent, 'filter_type', FILTER_TYPES);
  if (!filterType.ok) return filterType;
  const query = one(sent, 'query');
  if (!query.ok) return query;
  if (query.value !== null && query.value.length > QUERY_MAX) {
    return refused('invalid_parameter', `query must have at most ${QUERY_MAX} characters.`, { field: 'query' });
  }
  const page = whole(sent, 'page', { min: 1, max: PAGE_MAX, default: 1 });
  if (!page.ok) return page;
  const perPage = whole(sent, 'per_page', { min: 1, max: 100, default: 25 });
  if (!perPage.ok) return perPage;
  return {
    ok: true,
    value: { filterType: filterType.value, query: query.value || null, page: page.value, perPage: perPage.value },
  };
}

export const listFilters = (context: HttpContext): KeyedRoute<ListInput> => ({
  idempotentAs: null,
  read: readList,
  async serve(input, { caller, request }) {
    const { items, total } = await context.filters.list(caller.accountId, input);
    const pages = Math.max(1, Math.ceil(total / input.perPage));
    return {
      status: 200,
      body: {
        filters: items.map(filterReply),
        pagination: { current_page: input.page, per_page: input.perPage, total_pages: pages, total_count: total },
      },
      headers: linkHeader(request.url, input.page, pages),
    };
  },
});

/** RFC 8288: first, prev, next and last, as far as there are such pages; every other parameter is kept. */
function linkHeader(url: string, page: number, pages: number): Record<string, string> {
  const [path = '', search = ''] = url.split('?', 2) as [string, string?];
  const link = (n: number, rel: string) => {
    const params = new URLSearchParams(search);
    params.set('page', String(n));
    return `<${path}?${params}>; rel="${rel}"`;
  };
  const links = [link(1, 'first'), link(pages, 'last')];
  if (page > 1) links.push(link(Math.min(page - 1, pages), 'prev'));
  if (page < pages) links.push(link(page + 1, 'next'));
  return { link: links.join(', ') };
}

export const removeFilter = (context: HttpContext): KeyedRoute<number> => ({
  idempotentAs: null,
  read(request) {
    const { id } = request.params as { id: string };
    // What cannot be an id is as little there as an id that is not.
    const n = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
    return n > 0 ? { ok: true, value: n } : refused('not_found', 'There is no such filter.');
  },
  async serve(id, { caller, ip }) {
    await context.filters.remove(caller.accountId, id, await context.filters.actorOf(caller, ip));
    return { status: 200, body: { status: 'success', message: `Filter ${id} was removed.` } };
  },
});
