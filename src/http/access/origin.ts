import { ApiError } from '../../kernel/errors.ts';
import type { HttpRequest } from '../exchange.ts';

/**
 * Throws `cross_origin` for a change requested by a page of another site, going by the headers that browsers set:
 * Sec-Fetch-Site (W3C Fetch Metadata §2.4) and Origin (RFC 6454 §7). Programs send neither, and have no session that a
 * page could borrow. Behind a proxy that does not pass Host on, Origin is the public address.
 */
export function refuseCrossOrigin(request: HttpRequest, publicUrl: string): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const { host, origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') throw new ApiError('cross_origin');
  if (origin === undefined) return;
  const from = hostOf(origin);
  if (from === null || (from !== host?.toLowerCase() && from !== hostOf(publicUrl))) throw new ApiError('cross_origin');
}

/** `example.com:8025`, without the scheme's default port; null for `null` and anything that is not an origin. */
function hostOf(origin: string): string | null {
  const url = URL.parse(origin);
  return url !== null && /^https?:$/.test(url.protocol) ? url.host : null;
}
