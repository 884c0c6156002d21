import * as C from '../../contract/verifications.ts';
import { VerifyReply } from '../../contract/verify.ts';
import { toIsoOrNull } from '../../kernel/clock.ts';
import type { VerificationReply } from '../../service/verify.ts';
import { countedSearchOf, logEntryReply } from '../dashboard/log.ts';
import { type Route, route, StoredJson } from '../route.ts';

const VERIFICATIONS_PATH = '/v1/verifications';

/** `first`, and `next` where there is one (RFC 8288). */
function cursorLinks(url: string, next: string | null): Record<string, string> {
  const [path = '', search = ''] = url.split(/\?(.*)/s, 2);
  const link = (cursor: string | null, rel: string) => {
    const params = new URLSearchParams(search);
    params.delete('cursor');
    if (cursor !== null) params.set('cursor', cursor);
    const text = params.toString();
    return `<${path}${text === '' ? '' : `?${text}`}>; rel="${rel}"`;
  };
  return { link: [link(null, 'first'), ...(next === null ? [] : [link(next, 'next')])].join(', ') };
}

/** Verifications of the log; requests that were rejected are none. */
export const VERIFICATION_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: VERIFICATIONS_PATH,
    access: 'api-key:log',
    cost: 'query',
    input: { query: C.VerificationsQuery },
    output: {
      content: C.VerificationsReply,
      description: 'One page of verifications.',
      headers: { Link: 'first and next page (RFC 8288).' },
    },
    doc: { operationId: 'listVerifications', tag: 'Verification', summary: 'Search verifications, newest first' },
    serve:
      ({ log }) =>
      async ({ caller, request }, { query }) => {
        const { email = null, query: text = null, since: from = null, until: to = null, cursor, limit } = query;
        const seq = cursor === undefined ? null : Number(cursor);
        const found = await log.verifications(caller.accountId, {
          id: null,
          keyId: null,
          status: null,
          email: email || null,
          text: text || null,
          from,
          to,
          limit,
          ...countedSearchOf(query),
          before: seq,
        });
        const next = found.next === null ? null : String(found.next);
        return {
          body: { verifications: found.entries.map(logEntryReply), next, searched_to: toIsoOrNull(found.searchedTo) },
          headers: cursorLinks(request.url, next),
        };
      },
  }),
  route({
    method: 'GET',
    path: `${VERIFICATIONS_PATH}/:id`,
    access: 'api-key:log',
    cost: null,
    output: { content: VerifyReply, description: 'As it was answered then, with `evidence` if the request had it.' },
    doc: { operationId: 'getVerification', tag: 'Verification', summary: 'Get a verification' },
    serve:
      ({ log }) =>
      async ({ caller }, { params: { id } }) =>
        new StoredJson<VerificationReply>(200, (await log.get(caller.accountId, id)).body),
  }),
];
