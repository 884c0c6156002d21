import { LedgerReply, PageQuery } from '../../contract/dashboard/account.ts';
import * as C from '../../contract/dashboard/operator.ts';
import { toIso } from '../../kernel/clock.ts';
import type { ListsState, OverseenAccount } from '../../service/operator.ts';
import { ledgerReply, pageOf } from './account.ts';
import { nothingToChange } from './input.ts';
import { type DashboardRow, row } from './row.ts';

const OPERATOR = '/dashboard/operator';

const PER_PAGE = 50;

const accountReply = (a: OverseenAccount): C.OperatorAccount => ({
  id: a.id,
  name: a.name,
  plan: a.plan,
  rate_limit: a.rateLimit,
  rate_limit_set: a.rateLimitSet,
  status: a.status,
  balance: a.balance,
  locked: a.locked,
  members: a.members,
  keys: a.keys,
  created_at: toIso(a.createdAt),
});

const listsReply = ({ version, ageDays, size, problem }: ListsState) => ({
  version,
  age_days: ageDays,
  disposable_domains: size,
  problem,
});

/** For the people who run the service. */
export const OPERATOR_ROWS: readonly DashboardRow[] = [
  row({
    method: 'GET',
    path: `${OPERATOR}/accounts`,
    who: 'operator',
    doc: {
      operationId: 'operatorAccounts',
      summary: 'Accounts, newest first',
      query: C.OperatorAccountsQuery,
      reply: { schema: C.OperatorAccountsReply },
    },
    serve:
      ({ operator }) =>
      async (_visit, { query: { query = null, page = 1 } }) => {
        const { items, total } = await operator.search({ query: query || null, page, perPage: PER_PAGE });
        return { body: { accounts: items.map(accountReply), total_count: total, per_page: PER_PAGE } };
      },
  }),
  row({
    method: 'POST',
    path: `${OPERATOR}/accounts`,
    who: 'operator',
    doc: {
      operationId: 'operatorCreateAccount',
      summary: 'Make an account',
      body: C.OperatorCreateRequest,
      reply: { status: 201, schema: C.OperatorAccount },
    },
    serve:
      ({ operator }) =>
      async ({ actor }, { body: { name, plan, credits = 0, rate_limit: rateLimit = null } }) => ({
        body: accountReply(await operator.create({ name, plan, credits, rateLimit }, actor)),
      }),
  }),
  row({
    method: 'GET',
    path: `${OPERATOR}/accounts/:id`,
    who: 'operator',
    doc: {
      operationId: 'operatorAccount',
      summary: 'One account',
      reply: { schema: C.OperatorAccount },
      errors: [404],
    },
    serve:
      ({ operator }) =>
      async (_visit, { params }) => ({ body: accountReply(await operator.get(params.id!)) }),
  }),
  row({
    method: 'PATCH',
    path: `${OPERATOR}/accounts/:id`,
    who: 'operator',
    doc: {
      operationId: 'operatorChangeAccount',
      summary: 'Name, plan, rate limit; suspend and resume',
      body: C.OperatorChangeRequest,
      reply: { schema: C.OperatorAccount },
      errors: [404],
    },
    serve:
      ({ operator }) =>
      async ({ actor }, { params, body: { name, plan, rate_limit: rateLimit, status } }) => {
        const change = {
          ...(name === undefined ? {} : { name }),
          ...(plan === undefined ? {} : { plan }),
          ...(rateLimit === undefined ? {} : { rateLimit }),
          ...(status === undefined ? {} : { status }),
        };
        if (Object.keys(change).length === 0) throw nothingToChange('name, plan, rate_limit or status');
        return { body: accountReply(await operator.change(params.id!, change, actor)) };
      },
  }),
  row({
    method: 'POST',
    path: `${OPERATOR}/accounts/:id/grants`,
    who: 'operator',
    doc: {
      operationId: 'operatorGrant',
      summary: 'Grant credits, or take them back',
      body: C.GrantRequest,
      reply: { schema: C.OperatorAccount },
      errors: [404, 422],
    },
    serve:
      ({ operator }) =>
      async ({ actor }, { params, body: { credits, note } }) => ({
        body: accountReply(await operator.grant(params.id!, credits, note, actor)),
      }),
  }),
  row({
    method: 'GET',
    path: `${OPERATOR}/accounts/:id/ledger`,
    who: 'operator',
    doc: {
      operationId: 'operatorLedger',
      summary: "An account's ledger",
      query: PageQuery,
      reply: { schema: LedgerReply },
      errors: [404],
    },
    serve:
      ({ operator }) =>
      async (_visit, { params, query }) => ({ body: ledgerReply(await operator.ledger(params.id!, pageOf(query))) }),
  }),
  row({
    method: 'POST',
    path: `${OPERATOR}/doctor`,
    who: 'operator',
    doc: {
      operationId: 'operatorDoctor',
      summary: "Is this host fit to ask other people's mail servers?",
      reply: { schema: C.DoctorReply },
    },
    serve:
      ({ operator }) =>
      async () => {
        const { findings, tookMs } = await operator.doctor();
        return { body: { checks: findings.map((finding) => ({ ...finding })), took_ms: tookMs } };
      },
  }),
  row({
    method: 'GET',
    path: `${OPERATOR}/lists`,
    who: 'operator',
    doc: { operationId: 'operatorLists', summary: 'The disposable list in use', reply: { schema: C.ListsReply } },
    serve:
      ({ operator }) =>
      async () => ({ body: listsReply(operator.lists()) }),
  }),
  row({
    method: 'POST',
    path: `${OPERATOR}/lists/update`,
    who: 'operator',
    doc: {
      operationId: 'operatorUpdateLists',
      summary: 'Fetch the newest disposable list',
      reply: { schema: C.ListsUpdateReply },
      errors: [503],
    },
    serve:
      ({ operator }) =>
      async () => {
        const { lists, message } = await operator.updateLists();
        return { body: { lists: listsReply(lists), message } };
      },
  }),
];
