/** Replies that are a page of a longer list. */

const pagesOf = (total: number, perPage: number): number => Math.max(1, Math.ceil(total / perPage));

/** The `pagination` of a reply. */
export const paginationOf = (total: number, page: number, perPage: number) => ({
  current_page: page,
  per_page: perPage,
  total_pages: pagesOf(total, perPage),
  total_count: total,
});

/** RFC 8288: first, prev, next and last, as far as there are such pages; every other parameter is kept. */
export function linkHeader(url: string, total: number, page: number, perPage: number): Record<string, string> {
  const pages = pagesOf(total, perPage);
  // A value may itself hold a question mark (RFC 3986 §3.4).
  const start = url.indexOf('?');
  const [path, search] = start < 0 ? [url, ''] : [url.slice(0, start), url.slice(start + 1)];
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
