import { lists, uploaded } from './lists.ts';
import { type Transport, transport } from './transport.ts';
import type {
  Filter,
  FilterPage,
  FiltersQuery,
  Mailvet,
  MailvetOperator,
  MailvetOptions,
  Policy,
  Webhook,
} from './types.ts';

/** Page size when listing all filters: the service's maximum. */
const PER_PAGE = 100;

/**
 * A client for one service and one key. Holds nothing that has to be closed. Throws TypeError where `url` or
 * `key` cannot be used; its methods reject with MailvetError.
 */
export function createMailvet(options: MailvetOptions): Mailvet {
  const service = transport(options);
  const { send, download } = service;
  const list: Mailvet['filters']['list'] = (query, call) =>
    send<FilterPage>({ ...call, method: 'GET', path: 'v1/filters', query });

  async function* all(query: Omit<FiltersQuery, 'page'> = {}, call = {}): AsyncGenerator<Filter, void, undefined> {
    let last = Number.POSITIVE_INFINITY;
    for (let page = 1; ; page += 1) {
      const { filters, pagination } = await list({ per_page: PER_PAGE, ...query, page }, call);
      // Newest first: a filter added in the meantime shifts others to the next page, where they appear again.
      const fresh = filters.filter((filter) => filter.id < last);
      yield* fresh;
      last = fresh.at(-1)?.id ?? last;
      if (filters.length === 0 || page >= pagination.total_pages) return;
    }
  }

  return {
    verify: (request, { evidence, ...call } = {}) => {
      const query = evidence ? { evidence: 1 } : {};
      return send({ ...call, method: 'POST', path: 'v1/verify', query, body: request, replyField: 'deliverability' });
    },
    verifications: {
      get: (id, call) => send({ ...call, method: 'GET', path: `v1/verifications/${encodeURIComponent(id)}` }),
      list: (query, call) => send({ ...call, method: 'GET', path: 'v1/verifications', query }),
    },
    usage: (query, call) => send({ ...call, method: 'GET', path: 'v1/usage', query }),
    seen: {
      forget: async ({ scope, email }, call) => {
        // Without one the service would forget the whole scope.
        if (typeof email !== 'string' || email === '') throw new TypeError('email must be an address.');
        return send({ ...call, method: 'DELETE', path: 'v1/seen', query: { scope, email } });
      },
      forgetScope: (scope, call) => send({ ...call, method: 'DELETE', path: 'v1/seen', query: { scope } }),
    },
    outcomes: {
      report: (outcomes, call) => send({ ...call, method: 'POST', path: 'v1/outcomes', body: { outcomes } }),
      reportMessage: (message, { source, via, ...call } = {}) =>
        send({
          ...call,
          method: 'POST',
          path: 'v1/outcomes/message',
          query: { source, via },
          upload: { type: 'message/rfc822', content: new Blob([message]) },
        }),
    },
    calibration: (call) => send({ ...call, method: 'GET', path: 'v1/calibration' }),
    filters: {
      add: (filter, call) => send({ ...call, method: 'POST', path: 'v1/filters', body: filter }),
      list,
      all,
      get: (id, call) => send({ ...call, method: 'GET', path: filterPath(id) }),
      change: (id, change, call) => send({ ...call, method: 'PATCH', path: filterPath(id), body: change }),
      remove: (id, call) => send({ ...call, method: 'DELETE', path: filterPath(id) }),
      import: (source, { signal, timeout, type, ...query } = {}) => {
        const call = { signal, timeout, method: 'POST', path: 'v1/filters/import', query } as const;
        return uploaded(source, type, (upload) => send({ ...call, upload }));
      },
      export: (call) => download({ ...call, method: 'GET', path: 'v1/filters/export' }),
    },
    lists: lists(service),
    operator: operator(service),
    policies: {
      list: async (call) =>
        (await send<{ policies: Policy[] }>({ ...call, method: 'GET', path: 'v1/policies' })).policies,
      get: (name, call) => send({ ...call, method: 'GET', path: policyPath(name) }),
      put: (name, policy, call) => send({ ...call, method: 'PUT', path: policyPath(name), body: policy }),
      remove: async (name, call) => {
        await send({ ...call, method: 'DELETE', path: policyPath(name) });
      },
    },
    privacy: {
      export: (person, call) => send({ ...call, method: 'POST', path: 'v1/privacy/export', body: person }),
      erase: (person, call) => send({ ...call, method: 'POST', path: 'v1/privacy/erase', body: person }),
    },
    webhooks: {
      create: (webhook, call) => send({ ...call, method: 'POST', path: 'v1/webhooks', body: webhook }),
      list: async (call) =>
        (await send<{ webhooks: Webhook[] }>({ ...call, method: 'GET', path: 'v1/webhooks' })).webhooks,
      get: (id, call) => send({ ...call, method: 'GET', path: webhookPath(id) }),
      change: (id, change, call) => send({ ...call, method: 'PATCH', path: webhookPath(id), body: change }),
      remove: async (id, call) => {
        await send({ ...call, method: 'DELETE', path: webhookPath(id) });
      },
      rotateSecret: (id, call) => send({ ...call, method: 'POST', path: `${webhookPath(id)}/rotate-secret` }),
      test: (id, call) => send({ ...call, method: 'POST', path: `${webhookPath(id)}/test` }),
      deliveries: (id, query, call) => send({ ...call, method: 'GET', path: `${webhookPath(id)}/deliveries`, query }),
      replay: (delivery, call) =>
        send({ ...call, method: 'POST', path: `v1/deliveries/${encodeURIComponent(delivery)}/replay` }),
    },
  };
}

function operator({ send }: Transport): MailvetOperator {
  const ACCOUNTS = 'v1/operator/accounts';
  const path = (id: string, below = '') => `${ACCOUNTS}/${encodeURIComponent(id)}${below}`;
  return {
    accounts: {
      list: (query, call) => send({ ...call, method: 'GET', path: ACCOUNTS, query }),
      create: (account, call) => send({ ...call, method: 'POST', path: ACCOUNTS, body: account }),
      get: (id, call) => send({ ...call, method: 'GET', path: path(id) }),
      change: (id, change, call) => send({ ...call, method: 'PATCH', path: path(id), body: change }),
      suspend: (id, call) => send({ ...call, method: 'POST', path: path(id, '/suspend') }),
      resume: (id, call) => send({ ...call, method: 'POST', path: path(id, '/resume') }),
      remove: async (id, call) => {
        await send({ ...call, method: 'DELETE', path: path(id) });
      },
      grant: (id, grant, call) => send({ ...call, method: 'POST', path: path(id, '/grants'), body: grant }),
      createKey: (id, key, call) => send({ ...call, method: 'POST', path: path(id, '/keys'), body: key }),
      revokeKey: (id, key, call) =>
        send({ ...call, method: 'DELETE', path: path(id, `/keys/${encodeURIComponent(key)}`) }),
      usage: (id, query, call) => send({ ...call, method: 'GET', path: path(id, '/usage'), query }),
      ledger: (id, query, call) => send({ ...call, method: 'GET', path: path(id, '/ledger'), query }),
    },
  };
}

const policyPath = (name: string): string => `v1/policies/${encodeURIComponent(name)}`;
const filterPath = (id: number): string => `v1/filters/${encodeURIComponent(id)}`;
const webhookPath = (id: string): string => `v1/webhooks/${encodeURIComponent(id)}`;
