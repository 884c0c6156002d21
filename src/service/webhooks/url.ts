/** Which URLs a webhook may have. */

import { routable } from '../../engine/dns/routable.ts';
import { type DestinationDeps, hostOf, isLiteral, NoAddressError, resolveHost } from '../../engine/http/destination.ts';
import { ApiError } from '../../kernel/errors.ts';
import { WEBHOOK_TIMEOUT_MS } from '../../kernel/facts/limits.ts';

const refused = (message: string): ApiError => new ApiError('invalid_webhook_url', message, { field: 'url' });

/**
 * The URL in the form in which it is used. Its addresses are checked here so that a mistake shows at once; what counts
 * is the check of each attempt. Throws ApiError.
 */
export const createUrlCheck =
  (deps: DestinationDeps) =>
  async (text: string): Promise<string> => {
    const url = URL.canParse(text) ? new URL(text) : null;
    const schemes = deps.allowPrivate ? ['https:', 'http:'] : ['https:'];
    if (url === null || !schemes.includes(url.protocol))
      throw refused('url must be an https URL, such as https://example.com/webhooks.');
    if (url.username !== '' || url.password !== '') throw refused('url must not contain a user name or password.');
    if (isLiteral(url)) {
      if (routable(hostOf(url), { allowPrivate: deps.allowPrivate, own: deps.ownAddresses })) return whole(url);
      throw refused('The address in url is not publicly routable.');
    }
    try {
      await resolveHost(deps, hostOf(url), deps.clock.elapsed() + WEBHOOK_TIMEOUT_MS);
    } catch (error) {
      // DNS may be down now and up when there is something to send.
      if (error instanceof NoAddressError && error.reason === 'unknown_host')
        throw refused(`The host name ${JSON.stringify(hostOf(url))} has no public address.`);
      if (!(error instanceof NoAddressError)) throw error;
    }
    return whole(url);
  };

/** A fragment is not sent (RFC 9110 §4.2.5). */
function whole(url: URL): string {
  url.hash = '';
  return url.href;
}
