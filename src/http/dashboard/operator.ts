import { InviteReply, LedgerDaysQuery, LedgerDaysReply, MembersReply } from '../../contract/dashboard/account.ts';
import * as C from '../../contract/dashboard/operator.ts';
import { type OperatorJob, OperatorJobsReply, ServiceReply } from '../../contract/dashboard/operator.ts';

import { Done } from '../../contract/dashboard/session.ts';
import { UsageChartReply, UsageRangeQuery } from '../../contract/dashboard/usage.ts';
import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import { given } from '../../kernel/facts/given.ts';
import { ACCOUNTS_PER_PAGE, OPERATOR_JOBS } from '../../kernel/facts/limits.ts';
import { isUnlimited } from '../../kernel/facts/plans.ts';
import { ACCOUNT_ORDERS, sortingOf } from '../../kernel/facts/sort-orders.ts';
import { isJobKind, JOB_POLICIES } from '../../kernel/jobs.ts';
import type { JobRecord } from '../../service/jobs.ts';
import type { KeptExamination } from '../../service/kept-examination.ts';
import type { AccountSummary, ListsState } from '../../service/operator.ts';
import { type OperatorKey, shownOperatorKey } from '../../service/operator-keys.ts';
import { done } from '../access/session.ts';
import { nothingToChange } from '../reply.ts';
import { type Route, route } from '../route.ts';
import { membersReply } from './account.ts';
import { askOf } from './usage.ts';

/** How the service is, for operators. */
export const SERVICE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/dashboard/operator/service',
    access: 'operator',
    cost: 'query',
    output: { content: ServiceReply },
    doc: { operationId: 'operatorService', summary: 'Throughput, latency, queues, jobs, health' },
    serve:
      ({ serviceStatus }) =>
      async () => ({ body: (await serviceStatus()) satisfies ServiceReply }),
  }),
];

const JOBS = '/dashboard/operator/jobs';

const UNKNOWN_KIND_TEXT = 'A kind of job that this version of Mailvet does not have.';

const jobReply = (job: JobRecord): OperatorJob => ({
  id: job.id,
  kind: job.kind,
  description: isJobKind(job.kind) ? JOB_POLICIES[job.kind].description : UNKNOWN_KIND_TEXT,
  account: job.account,
  attempts: job.attempts,
  last_error: job.lastError,
  created_at: toIso(job.createdAt),
  failed_at: toIso(job.at ?? job.createdAt),
});

/** Background jobs that failed, for operators. */
export const JOB_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: JOBS,
    access: 'operator',
    cost: 'query',
    output: { content: OperatorJobsReply },
    doc: { operationId: 'operatorJobs', summary: 'Failed background jobs, newest first' },
    serve:
      ({ jobs }) =>
      async () => {
        const { items, total } = await jobs.list('failed', OPERATOR_JOBS);
        return { body: { jobs: items.map(jobReply), total_count: total } };
      },
  }),
  route({
    method: 'POST',
    path: `${JOBS}/:id/retry`,
    access: 'operator',
    output: { content: Done },
    doc: { operationId: 'operatorRetryJob', summary: 'Retry a failed job', errors: [404, 422] },
    serve:
      ({ jobs }) =>
      async (_context, { params }) => {
        await jobs.retry(params.id);
        return done('The job will run again.');
      },
  }),
  route({
    method: 'DELETE',
    path: `${JOBS}/:id`,
    access: 'operator',
    output: { content: Done },
    doc: { operationId: 'operatorDropJob', summary: 'Drop a failed job', errors: [404] },
    serve:
      ({ jobs }) =>
      async (_context, { params }) => {
        await jobs.drop(params.id);
        return done('The job was dropped.');
      },
  }),
];

const OPERATOR_PATH = '/dashboard/operator';

/** What programs see, too. */
export const accountReply = (a: AccountSummary): Omit<C.OperatorAccount, 'spent' | 'last_used_at'> => ({
  id: a.id,
  name: a.name,
  plan: a.plan,
  rate_limit: a.rateLimit,
  rate_limit_set: a.rateLimitSet,
  status: a.status,
  balance: a.balance,
  locked: a.locked,
  allowance: a.allowance,
  unlimited: isUnlimited(a.terms),
  members: a.members,
  keys: a.keys,
  created_at: toIso(a.createdAt),
});
const operatorAccount = (a: AccountSummary): C.OperatorAccount => ({
  ...accountReply(a),
  spent: a.spent,
  last_used_at: toIsoOrNull(a.usedAt),
});

const listsReply = ({ version, ageDays, size, problem, attemptedAt, failed, sources }: ListsState) => ({
  version,
  age_days: ageDays,
  disposable_domains: size,
  problem,
  attempted_at: toIsoOrNull(attemptedAt),
  failed,
  sources: sources.map(({ downloadedAt, ...source }) => ({ ...source, downloaded_at: downloadedAt })),
});

const doctorReply = ({ findings, advice, tookMs, at }: KeptExamination) => ({
  checks: [...findings],
  advice: [...advice],
  took_ms: tookMs,
  checked_at: toIso(at),
});

const operatorKeyReply = (key: OperatorKey, now: number): C.DashboardOperatorKey => ({
  id: key.id,
  name: key.name,
  key: shownOperatorKey(key),
  allow_ips: [...key.allowIps],
  scopes: [...key.scopes],
  state: key.revokedAt !== null ? 'revoked' : key.expiresAt <= now ? 'expired' : 'active',
  created_at: toIso(key.createdAt),
  expires_at: toIso(key.expiresAt),
  revoked_at: toIsoOrNull(key.revokedAt),
  last_used_at: toIsoOrNull(key.lastUsedAt),
  last_used_ip: key.lastUsedIp,
});

const OPERATOR_KEYS = `${OPERATOR_PATH}/keys`;

export const OPERATOR_KEY_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: OPERATOR_KEYS,
    access: 'operator',
    cost: null,
    output: { content: C.OperatorKeysReply },
    doc: { operationId: 'operatorKeys', summary: 'Operator keys, newest first' },
    serve:
      ({ operatorKeys, clock }) =>
      async () => ({
        body: { keys: (await operatorKeys.list()).map((key) => operatorKeyReply(key, clock.now())) },
      }),
  }),
  route({
    method: 'POST',
    path: OPERATOR_KEYS,
    access: 'operator',
    input: { body: C.OperatorKeyRequest },
    output: { status: 201, content: C.OperatorKeyCreated },
    doc: {
      operationId: 'operatorCreateKey',
      summary: 'Create an operator key; its value is shown only once',
      errors: [422],
    },
    serve:
      ({ operatorKeys, clock }) =>
      async ({ actor }, { body: { name, allow_ips: allowIps, scopes, expires_at: expiresAt } }) => {
        const { key, value } = await operatorKeys.create({ name, allowIps, scopes, expiresAt }, actor);
        return { body: { key: operatorKeyReply(key, clock.now()), value } };
      },
  }),
  route({
    method: 'POST',
    path: `${OPERATOR_KEYS}/:id/revoke`,
    access: 'operator',
    output: { content: C.DashboardOperatorKey },
    doc: { operationId: 'operatorRevokeKey', summary: 'Revoke an operator key', errors: [404] },
    serve:
      ({ operatorKeys, clock }) =>
      async ({ actor }, { params }) => ({
        body: operatorKeyReply(await operatorKeys.revoke(params.id, actor), clock.now()),
      }),
  }),
];

/** Service operators only. */
export const OPERATOR_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: `${OPERATOR_PATH}/accounts`,
    access: 'operator',
    cost: 'query',
    input: { query: C.OperatorAccountsQuery },
    output: { content: C.OperatorAccountsReply },
    doc: { operationId: 'operatorAccounts', summary: 'Accounts, newest first unless `sort` says otherwise' },
    serve:
      ({ operator }) =>
      async (_context, { query: { query = null, page, ...order } }) => {
        const sort = sortingOf(ACCOUNT_ORDERS, order);
        const { items, total } = await operator.search({
          query: query || null,
          sort,
          page,
          perPage: ACCOUNTS_PER_PAGE,
        });
        return { body: { accounts: items.map(operatorAccount), total_count: total, per_page: ACCOUNTS_PER_PAGE } };
      },
  }),
  route({
    method: 'GET',
    path: `${OPERATOR_PATH}/plans`,
    access: 'operator',
    cost: 'query',
    output: { content: C.OperatorPlans },
    doc: { operationId: 'operatorPlans', summary: 'The plans that accounts can have' },
    serve:
      ({ operator }) =>
      async () => ({
        body: {
          plans: operator.plans.map((plan) => ({
            name: plan.name,
            requests_per_window: plan.requestsPerWindow,
            smtp_available: plan.levels.includes('smtp'),
            prices: plan.prices,
            monthly_credits: isUnlimited(plan) ? null : plan.monthlyCredits,
          })),
        },
      }),
  }),
  route({
    method: 'POST',
    path: `${OPERATOR_PATH}/accounts`,
    access: 'operator',
    input: { body: C.OperatorCreateRequest },
    output: { status: 201, content: C.OperatorAccount },
    doc: { operationId: 'operatorCreateAccount', summary: 'Create an account' },
    serve:
      ({ operator }) =>
      async ({ actor }, { body: { name, plan, credits = 0, rate_limit: rateLimit = null } }) => ({
        body: operatorAccount(await operator.create({ name, plan, credits, rateLimit }, actor)),
      }),
  }),
  route({
    method: 'GET',
    path: `${OPERATOR_PATH}/accounts/:id`,
    access: 'operator',
    cost: 'query',
    output: { content: C.OperatorAccount },
    doc: { operationId: 'operatorAccount', summary: 'One account', errors: [404] },
    serve:
      ({ operator }) =>
      async (_context, { params }) => ({ body: operatorAccount(await operator.get(params.id)) }),
  }),
  route({
    method: 'PATCH',
    path: `${OPERATOR_PATH}/accounts/:id`,
    access: 'operator',
    input: { body: C.OperatorChangeRequest },
    output: { content: C.OperatorAccount },
    doc: {
      operationId: 'operatorChangeAccount',
      summary: 'Change name, plan or rate limit; suspend or resume',
      errors: [404],
    },
    serve:
      ({ operator }) =>
      async ({ actor }, { params, body: { name, plan, rate_limit: rateLimit, status } }) => {
        const change = given({ name, plan, rateLimit, status });
        if (Object.keys(change).length === 0) throw nothingToChange('name, plan, rate_limit or status');
        return { body: operatorAccount(await operator.change(params.id, change, actor)) };
      },
  }),
  route({
    method: 'POST',
    path: `${OPERATOR_PATH}/accounts/:id/owner`,
    access: 'operator',
    input: { body: C.OperatorOwnerRequest },
    output: { status: 201, content: InviteReply },
    doc: {
      operationId: 'operatorInviteOwner',
      summary: 'Invite the first owner of an account without members',
      errors: [404, 422, 429],
    },
    serve:
      ({ operator }) =>
      async ({ actor }, { params, body: { email } }) => ({
        body: await operator.inviteOwner(params.id, email, actor),
      }),
  }),
  route({
    method: 'POST',
    path: `${OPERATOR_PATH}/accounts/:id/grants`,
    access: 'operator',
    input: { body: C.GrantRequest },
    output: { content: C.OperatorAccount },
    doc: { operationId: 'operatorGrant', summary: 'Grant or deduct credits', errors: [404, 409, 422] },
    serve:
      ({ operator }) =>
      async ({ actor }, { params, body: { credits, note } }) => ({
        body: operatorAccount(await operator.grant(params.id, credits, note, actor)),
      }),
  }),
  route({
    method: 'GET',
    path: `${OPERATOR_PATH}/accounts/:id/ledger/days`,
    access: 'operator',
    cost: 'query',
    input: { query: LedgerDaysQuery },
    output: { content: LedgerDaysReply },
    doc: {
      operationId: 'operatorLedgerDays',
      summary: "An account's grants, and charges and balance by day (UTC)",
      errors: [404],
    },
    serve:
      ({ operator, account: accounts }) =>
      async (_context, { params, query: { days } }) => ({
        body: (await accounts.ledgerDays(await operator.idOf(params.id), days)) satisfies LedgerDaysReply,
      }),
  }),
  route({
    method: 'GET',
    path: `${OPERATOR_PATH}/accounts/:id/usage`,
    access: 'operator',
    cost: 'query',
    input: { query: UsageRangeQuery },
    output: { content: UsageChartReply },
    doc: {
      operationId: 'operatorAccountUsage',
      summary: "An account's counters by hour or day, reason and key; the last seven days by default",
      errors: [404],
    },
    serve:
      ({ operator, chart }) =>
      async (_context, { params, query }) => ({
        body: (await chart(await operator.idOf(params.id), askOf(query))) satisfies UsageChartReply,
      }),
  }),
  route({
    method: 'GET',
    path: `${OPERATOR_PATH}/accounts/:id/members`,
    access: 'operator',
    cost: 'query',
    output: { content: MembersReply },
    doc: { operationId: 'operatorMembers', summary: "An account's members and pending invitations", errors: [404] },
    serve:
      ({ operator, members }) =>
      async ({ user }, { params }) => ({
        body: membersReply(await members.list(await operator.idOf(params.id)), user),
      }),
  }),
  route({
    method: 'POST',
    path: `${OPERATOR_PATH}/doctor`,
    access: 'operator',
    output: { content: C.DoctorReply },
    doc: { operationId: 'operatorDoctor', summary: 'Check whether this host is ready for SMTP verification' },
    serve:
      ({ operator }) =>
      async () => ({ body: doctorReply(await operator.doctor()) }),
  }),
  route({
    method: 'GET',
    path: `${OPERATOR_PATH}/doctor`,
    access: 'operator',
    cost: 'query',
    output: { content: C.LastDoctorReply },
    doc: { operationId: 'operatorLastDoctor', summary: 'What the last run of these checks found' },
    serve:
      ({ operator }) =>
      async () => {
        const last = await operator.lastExamination();
        return { body: { last: last && doctorReply(last) } };
      },
  }),
  route({
    method: 'GET',
    path: `${OPERATOR_PATH}/lists`,
    access: 'operator',
    cost: 'query',
    output: { content: C.DomainListsReply },
    doc: { operationId: 'operatorLists', summary: 'Disposable domain list in use' },
    serve:
      ({ operator }) =>
      async () => ({ body: listsReply(await operator.lists()) }),
  }),
  route({
    method: 'POST',
    path: `${OPERATOR_PATH}/lists/update`,
    access: 'operator',
    output: { content: C.ListsUpdateReply },
    doc: { operationId: 'operatorUpdateLists', summary: 'Update the disposable domain list', errors: [503] },
    serve:
      ({ operator }) =>
      async () => {
        const { lists, message } = await operator.updateLists();
        return { body: { lists: listsReply(lists), message } };
      },
  }),
];
