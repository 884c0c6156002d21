import { UsageQuery, UsageReply } from '../../contract/usage.ts';
import { ApiError } from '../../kernel/errors.ts';
import { type Route, route } from '../route.ts';

export const USAGE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/usage',
    access: 'api-key:usage',
    cost: null,
    input: { query: UsageQuery },
    output: { content: UsageReply, description: 'The account as it is.' },
    doc: { operationId: 'usage', tag: 'Usage', summary: 'Plan, credit balance, rate limits' },
    serve:
      ({ usage }) =>
      async ({ caller, window }, { query, warnings }) => {
        const { group_by: groupBy = null, from = null, to = null } = query;
        if (from !== null && to !== null && from >= to) {
          throw new ApiError('invalid_parameter', 'from must be before to.', { field: 'from' });
        }
        const useless = groupBy === null ? (['from', 'to'] as const).filter((name) => query[name] !== undefined) : [];
        const found = [
          ...warnings,
          ...useless.map((name) => `Parameter "${name}" changes nothing without "group_by".`),
        ];
        return { body: { ...(await usage(caller, window, { groupBy, from, to })), warnings: found } };
      },
  }),
];
