import { LedgerQuery } from '../../contract/dashboard/account.ts';
import * as C from '../../contract/operator.ts';
import { IdempotencyHeader } from '../../contract/schema.ts';
import { UsageQuery } from '../../contract/usage.ts';
import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import { given } from '../../kernel/facts/given.ts';
import { defaultPlan } from '../../kernel/facts/plans.ts';
import { KEY_PREFIXES } from '../../kernel/ids.ts';
import type { StoredReply } from '../../service/admission.ts';
import { type Key, modeOf } from '../../service/keys.ts';
import type { AccountSummary, GrantOutcome, NewAccount } from '../../service/operator.ts';
import { ledgerPageOf, ledgerReply } from '../dashboard/account.ts';
import { settingsOf } from '../dashboard/keys.ts';
import { accountReply as dashboardAccount } from '../dashboard/operator.ts';
import { jsonReply, linkHeader, nothingToChange, paginationOf, REPLAYED } from '../reply.ts';
import { type OperatorKeyContext, type Route, type RouteDoc, route } from '../route.ts';

const ACCOUNTS = '/v1/operator/accounts';
const ACCOUNT = `${ACCOUNTS}/:id`;

const managedAccountReply = (account: AccountSummary): C.ManagedAccount => ({
  ...dashboardAccount(account),
  external_id: account.externalId,
  low_balance: account.lowBalance,
});

/** `link`: of the invitation, where the caller gets it. */
const createdReply = ({ account, linkSent }: NewAccount, link: string | null, warnings: readonly string[]) =>
  jsonReply<typeof C.ManagedAccountMadeReply>(
    201,
    { ...managedAccountReply(account), invitation: linkSent && { mailed: linkSent.mailed, link }, warnings },
    { location: `${ACCOUNTS}/${account.id}` },
  );

const grantReply = ({ grant, account, repeated }: GrantOutcome, warnings: readonly string[]) =>
  jsonReply<typeof C.ExternalGrantReply>(201, {
    account: account.id,
    external_id: grant.externalId,
    credits: grant.credits,
    note: grant.note,
    created_at: toIso(grant.createdAt),
    repeated,
    balance: account.balance,
    warnings,
  });

const managedKeyReply = (key: Key) => ({
  id: key.id,
  name: key.name,
  key: `${KEY_PREFIXES[modeOf(key)]}…${key.lastFour}`,
  allow_ips: [...key.allowIps],
  scopes: [...key.scopes],
  monthly_credits: key.budget?.credits ?? null,
  created_at: toIso(key.createdAt),
  expires_at: toIsoOrNull(key.expiresAt),
  revoked_at: toIsoOrNull(key.revokedAt),
});

const keyMadeReply = (key: Key, value: string | null, warnings: readonly string[]) =>
  jsonReply<typeof C.ManagedKeyMadeReply>(201, { ...managedKeyReply(key), value, warnings });

/** Where the request has an Idempotency-Key: the reply is stored with its change. */
const stored = <Outcome>({ idempotency }: OperatorKeyContext, replyTo: (outcome: Outcome) => StoredReply) =>
  idempotency && { ...idempotency, replyTo };

const managed = (doc: Omit<RouteDoc, 'tag'>): RouteDoc => ({ ...doc, tag: 'Operator' });

/** Accounts as such: their list, their making, their settings. */
const ACCOUNT_ROWS: readonly Route[] = [
  route({
    method: 'GET',
    path: ACCOUNTS,
    access: 'operator-key:accounts:read',
    cost: 'query',
    input: { query: C.ManagedAccountsQuery },
    output: {
      content: C.ManagedAccountsReply,
      description: 'One page of accounts.',
      headers: { Link: 'first, prev, next and last page (RFC 8288).' },
    },
    doc: managed({ operationId: 'listAccounts', summary: 'List accounts, newest first' }),
    serve:
      ({ operator }) =>
      async ({ request }, { query: { query = null, page, per_page: perPage } }) => {
        const { items, total } = await operator.search({ query: query || null, page, perPage });
        return {
          body: { accounts: items.map(managedAccountReply), pagination: paginationOf(total, page, perPage) },
          headers: linkHeader(request.url, total, page, perPage),
        };
      },
  }),
  route({
    method: 'POST',
    path: ACCOUNTS,
    access: 'operator-key:accounts:write',
    input: { body: C.ManagedAccountRequest, headers: IdempotencyHeader },
    output: {
      status: 201,
      content: C.ManagedAccountMadeReply,
      description: 'The account.',
      headers: { Location: 'Path of the account.', ...REPLAYED },
    },
    doc: managed({ operationId: 'createAccount', summary: 'Create an account', errors: ['external_id_taken'] }),
    serve:
      ({ operator, plans }) =>
      async (granted, { body, warnings }) => {
        const { name, plan = defaultPlan(plans), credits = 0, rate_limit: rateLimit = null, owner = null } = body;
        const input = { name, plan, credits, rateLimit, externalId: body.external_id ?? null, owner };
        const keep = stored<NewAccount>(granted, (made) => createdReply(made, null, warnings));
        const made = await operator.createManaged(input, granted.actor, keep);
        return createdReply(made, made.linkSent?.link ?? null, warnings);
      },
  }),
  route({
    method: 'GET',
    path: ACCOUNT,
    access: 'operator-key:accounts:read',
    cost: null,
    output: { content: C.ManagedAccountReply, description: 'The account.' },
    doc: managed({ operationId: 'getAccount', summary: 'Get an account' }),
    serve:
      ({ operator }) =>
      async (_granted, { params: { id } }) => ({ body: managedAccountReply(await operator.get(id)) }),
  }),
  route({
    method: 'PATCH',
    path: ACCOUNT,
    access: 'operator-key:accounts:write',
    input: { body: C.ManagedAccountChange, headers: IdempotencyHeader },
    output: { content: C.ManagedAccountReply, description: 'The account as it is now.', headers: REPLAYED },
    doc: managed({ operationId: 'changeAccount', summary: 'Change an account' }),
    serve:
      ({ operator }) =>
      async ({ actor }, { params: { id }, body: { name, plan, rate_limit, low_balance, status } }) => {
        const change = given({ name, plan, rateLimit: rate_limit, lowBalance: low_balance, status });
        if (Object.keys(change).length === 0) throw nothingToChange('name, plan, rate_limit, low_balance or status');
        return { body: managedAccountReply(await operator.change(id, change, actor)) };
      },
  }),
  ...(['suspend', 'resume'] as const).map((verb) =>
    route({
      method: 'POST',
      path: `${ACCOUNT}/${verb}`,
      access: 'operator-key:accounts:write',
      input: { headers: IdempotencyHeader },
      output: { content: C.ManagedAccountReply, description: 'The account as it is now.', headers: REPLAYED },
      doc: managed({
        operationId: `${verb}Account`,
        summary: verb === 'suspend' ? 'Reject all requests of an account' : 'Lift the suspension of an account',
      }),
      serve:
        ({ operator }) =>
        async ({ actor }: OperatorKeyContext, { params }: { readonly params: Readonly<Record<string, string>> }) => {
          const status = verb === 'suspend' ? 'suspended' : 'active';
          return { body: managedAccountReply(await operator.change(params.id ?? '', { status }, actor)) };
        },
    }),
  ),
  route({
    method: 'DELETE',
    path: ACCOUNT,
    access: 'operator-key:accounts:write',
    input: { headers: IdempotencyHeader },
    output: { content: C.ManagedDone, description: 'Deleted; its rows follow.', headers: REPLAYED },
    doc: managed({
      operationId: 'deleteAccount',
      summary: 'Delete an account, with its keys, lists, log and members',
    }),
    serve:
      ({ operator }) =>
      async ({ actor }, { params: { id = '' } }: { readonly params: Readonly<Record<string, string>> }) => {
        await operator.remove(id, actor);
        return { body: { status: 'success', message: `Account ${id} was deleted.` } };
      },
  }),
];

/** What belongs to an account: credits, keys, usage. */
const BELONGINGS: readonly Route[] = [
  route({
    method: 'POST',
    path: `${ACCOUNT}/grants`,
    access: 'operator-key:credits',
    input: { body: C.ExternalGrantRequest, headers: IdempotencyHeader },
    output: {
      status: 201,
      content: C.ExternalGrantReply,
      description: 'The grant, also where it had been made before.',
      headers: REPLAYED,
    },
    doc: managed({
      operationId: 'grantCredits',
      summary: 'Grant or take back credits, once for each external_id',
      errors: ['grant_conflict', 'balance_too_small'],
    }),
    serve:
      ({ operator }) =>
      async (granted, { params: { id = '' }, body, warnings }) => {
        const { credits, external_id: externalId, note = externalId } = body;
        const keep = stored<GrantOutcome>(granted, (outcome) => grantReply(outcome, warnings));
        const outcome = await operator.grantOnce(id, { externalId, credits, note }, granted.actor, keep);
        return grantReply(outcome, warnings);
      },
  }),
  route({
    method: 'POST',
    path: `${ACCOUNT}/keys`,
    access: 'operator-key:accounts:write',
    input: { body: C.ManagedKeyRequest, headers: IdempotencyHeader },
    output: {
      status: 201,
      content: C.ManagedKeyMadeReply,
      description: 'The key, with its value, which is shown only now.',
      headers: REPLAYED,
    },
    doc: managed({ operationId: 'createAccountKey', summary: 'Create an API key', errors: ['too_many_keys'] }),
    serve:
      ({ operator }) =>
      async (granted, { params: { id = '' }, body: { name, test = false, allow_ips = [], ...limits }, warnings }) => {
        const settings = { ...settingsOf(limits), name, allowIps: allow_ips };
        const keep = stored<Key>(granted, (key) => keyMadeReply(key, null, warnings));
        const { key, value } = await operator.createKey(id, { settings, test }, granted.actor, keep);
        return keyMadeReply(key, value, warnings);
      },
  }),
  route({
    method: 'DELETE',
    path: `${ACCOUNT}/keys/:keyid`,
    access: 'operator-key:accounts:write',
    input: { headers: IdempotencyHeader },
    output: { content: C.ManagedKeyReply, description: 'The key, revoked.', headers: REPLAYED },
    doc: managed({ operationId: 'revokeAccountKey', summary: 'Revoke an API key' }),
    serve:
      ({ operator }) =>
      async (
        { actor },
        { params: { id = '', keyid = '' } }: { readonly params: Readonly<Record<string, string>> },
      ) => ({
        body: managedKeyReply(await operator.revokeKey(id, keyid, actor)),
      }),
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT}/usage`,
    access: 'operator-key:usage',
    cost: 'query',
    input: { query: UsageQuery },
    output: { content: C.ManagedUsageReply, description: 'As `GET /v1/usage` shows it to the account.' },
    doc: managed({ operationId: 'accountUsage', summary: 'Usage of an account' }),
    serve:
      ({ operator }) =>
      async (_granted, { params: { id = '' }, query: { group_by: groupBy = null, from = null, to = null } }) => ({
        body: await operator.usage(id, { groupBy, from, to }),
      }),
  }),
  route({
    method: 'GET',
    path: `${ACCOUNT}/ledger`,
    access: 'operator-key:usage',
    cost: 'query',
    input: { query: LedgerQuery },
    output: { content: C.ManagedLedgerReply, description: 'One page of the ledger.' },
    doc: managed({ operationId: 'accountLedger', summary: 'Ledger of an account, newest first' }),
    serve:
      ({ operator }) =>
      async (_granted, { params: { id = '' }, query }) => ({
        body: ledgerReply(await operator.ledger(id, ledgerPageOf(query))),
      }),
  }),
];

export const MANAGED_ROUTES: readonly Route[] = [...ACCOUNT_ROWS, ...BELONGINGS];
