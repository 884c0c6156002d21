import * as C from '../../contract/dashboard/account.ts';
import { KeyUsageQuery } from '../../contract/dashboard/usage.ts';
import type { Read } from '../../contract/schema.ts';
import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import { KEY_PREFIXES } from '../../kernel/ids.ts';
import { budgetOf, type CreatedKey, type Key, modeOf, noticesOf, stateOf } from '../../service/keys.ts';
import { nothingToChange } from '../reply.ts';
import { type Route, route } from '../route.ts';

const KEYS = '/dashboard/accounts/:account/keys';

function budgetReply(key: Key, now: number): C.DashboardKey['budget'] {
  const budget = budgetOf(key, now);
  return budget && { monthly_credits: budget.credits, used: budget.used, resets_at: toIso(budget.resetsAt) };
}

/** Settings as the service takes them; absent ones stay absent. */
export const settingsOf = ({ allow_ips, expires_at, scopes, monthly_credits }: Read<typeof C.KeyChangeRequest>) => ({
  allowIps: allow_ips,
  expiresAt: expires_at,
  scopes,
  budget: monthly_credits,
});

const keyReply = (key: Key, now: number): C.DashboardKey => ({
  id: key.id,
  name: key.name,
  key: `${KEY_PREFIXES[modeOf(key)]}…${key.lastFour}`,
  allow_ips: [...key.allowIps],
  scopes: [...key.scopes],
  budget: budgetReply(key, now),
  state: stateOf(key, now),
  created_at: toIso(key.createdAt),
  expires_at: toIsoOrNull(key.expiresAt),
  revoked_at: toIsoOrNull(key.revokedAt),
  last_used_at: toIsoOrNull(key.lastUsedAt),
  last_used_ip: key.lastUsedIp,
  notices: noticesOf(key, now),
});
const madeReply = ({ key, value }: CreatedKey, now: number) => ({ key: keyReply(key, now), value });

/** API keys of an account. */
export const KEY_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: KEYS,
    access: 'viewer',
    cost: null,
    output: { content: C.KeysReply },
    doc: { operationId: 'listKeys', tag: 'Dashboard', summary: 'API keys, newest first, revoked ones last' },
    serve:
      ({ keys, clock }) =>
      async ({ account }) => ({ body: { keys: (await keys.list(account)).map((key) => keyReply(key, clock.now())) } }),
  }),
  route({
    method: 'GET',
    path: '/dashboard/accounts/:account/key-usage',
    access: 'viewer',
    cost: 'query',
    input: { query: KeyUsageQuery },
    output: { content: C.KeyUsageReply },
    doc: { operationId: 'keyUsage', tag: 'Dashboard', summary: 'Verifications with each key by day' },
    serve:
      ({ keys }) =>
      async ({ account }, { query: { source = null } }) => ({
        body: (await keys.usage(account, source)) satisfies C.KeyUsageReply,
      }),
  }),
  route({
    method: 'GET',
    path: `${KEYS}/:id`,
    access: 'viewer',
    cost: 'query',
    output: { content: C.KeyDetailReply },
    doc: { operationId: 'key', tag: 'Dashboard', summary: 'One API key, and the addresses that used it lately' },
    serve:
      ({ keys, clock }) =>
      async ({ account }, { params }) => {
        const { key, clients } = await keys.get(account, params.id);
        return {
          body: {
            key: keyReply(key, clock.now()),
            clients: clients.map(({ ip, requests, lastAt }) => ({ ip, requests, last_at: toIso(lastAt) })),
          } satisfies C.KeyDetailReply,
        };
      },
  }),
  route({
    method: 'POST',
    path: KEYS,
    access: 'admin',
    input: { body: C.KeyCreateRequest },
    output: { status: 201, content: C.KeyCreatedReply },
    doc: {
      operationId: 'createKey',
      tag: 'Dashboard',
      summary: 'Create a key; its value is shown only once',
      errors: [422],
    },
    serve:
      ({ keys, clock }) =>
      async ({ account, actor }, { body: { name, allow_ips = [], ...limits } }) => ({
        body: madeReply(
          await keys.create(account, { ...settingsOf(limits), name, allowIps: allow_ips }, actor),
          clock.now(),
        ),
      }),
  }),
  route({
    method: 'PATCH',
    path: `${KEYS}/:id`,
    access: 'admin',
    input: { body: C.KeyChangeRequest },
    output: { content: C.DashboardKey },
    doc: {
      operationId: 'changeKey',
      tag: 'Dashboard',
      summary: 'Change name, allowlist, expiry, scopes and budget',
      errors: [422],
    },
    serve:
      ({ keys, clock }) =>
      async ({ account, actor }, { params, body }) => {
        if (Object.keys(body).length === 0)
          throw nothingToChange('name, allow_ips, expires_at, scopes or monthly_credits');
        const change = { ...settingsOf(body), name: body.name };
        return { body: keyReply(await keys.change(account, params.id, change, actor), clock.now()) };
      },
  }),
  route({
    method: 'POST',
    path: `${KEYS}/:id/revoke`,
    access: 'admin',
    input: { body: C.KeyRevokeRequest },
    output: { content: C.DashboardKey },
    doc: {
      operationId: 'revokeKey',
      tag: 'Dashboard',
      summary: 'Revoke a key immediately and permanently',
      errors: [422],
    },
    serve:
      ({ keys, clock }) =>
      async ({ account, actor }, { params, body: { name } }) => ({
        body: keyReply(await keys.revoke(account, params.id, name, actor), clock.now()),
      }),
  }),
  route({
    method: 'POST',
    path: `${KEYS}/:id/roll`,
    access: 'admin',
    input: { body: C.KeyRollRequest },
    output: { status: 201, content: C.KeyCreatedReply },
    doc: {
      operationId: 'rollKey',
      tag: 'Dashboard',
      summary: 'Create a key with the same settings and revoke this one after a grace period',
      errors: [422],
    },
    serve:
      ({ keys, clock }) =>
      async ({ account, actor }, { params, body: { grace_seconds } }) => ({
        body: madeReply(await keys.roll(account, params.id, grace_seconds * 1000, actor), clock.now()),
      }),
  }),
];
