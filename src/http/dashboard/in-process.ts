import type { HttpContext } from '../context.ts';
import { HttpReply, HttpRequest } from '../exchange.ts';
import { handlerOf } from '../handler.ts';
import type { ReplyHeaders } from '../header-list.ts';
import { Router } from '../router.ts';
import type { DataReply } from './first-views.ts';
import { DASHBOARD_ROUTES } from './table.ts';

/** A GET of the private API within the request of a page: from the same visitor, with the same cookies. */
class InnerRequest extends HttpRequest {
  readonly #path: string;

  constructor(page: HttpRequest, path: string, params: HttpRequest['params']) {
    super(page.raw, { id: page.id, params, log: page.log });
    this.#path = path;
  }

  override get method(): string {
    return 'GET';
  }

  override get url(): string {
    return this.#path;
  }
}

/** Its reply. Cookies go with the page. */
class InnerReply extends HttpReply {
  readonly #page: HttpReply;
  sent: DataReply = { status: 500, body: 'null' };

  constructor(page: HttpReply) {
    super(page.raw, []);
    this.#page = page;
  }

  override set(headers: ReplyHeaders): void {
    const cookies = headers['set-cookie'];
    if (cookies !== undefined) this.#page.set({ 'set-cookie': cookies });
  }

  override send(status: number, body: string | Buffer | undefined, own: ReplyHeaders = {}): void {
    this.set(own);
    this.sent = { status, body: String(body) };
  }
}

const NOT_FOUND: DataReply = { status: 404, body: 'null' };

/** The private API for the requests of first views: every guard applies as if the browser had sent them. */
export function inProcess(
  context: HttpContext,
): (page: HttpRequest, reply: HttpReply) => (path: string) => Promise<DataReply> {
  const rows = DASHBOARD_ROUTES.filter(({ method, output }) => method === 'GET' && typeof output?.content === 'object');
  const router = new Router(rows.map((row) => ({ ...row, handle: handlerOf(context, row) })));
  return (page, reply) => async (path) => {
    const found = router.find('GET', path.split('?', 1)[0] ?? '');
    if (found === null) return NOT_FOUND;
    const inner = new InnerReply(reply);
    await found.row.handle(new InnerRequest(page, path, found.params), inner);
    return inner.sent;
  };
}
