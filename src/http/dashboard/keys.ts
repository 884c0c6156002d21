import * as C from '../../contract/dashboard/account.ts';
import { KeyUsageQuery } from '../../contract/dashboard/usage.ts';
import type { Read } from '../../contract/schema.ts';
import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import { KEY_PREFIXES } from '../../kernel/ids.ts';
import { budgetOf, type Key, modeOf, noticesOf, stateOf } from '../../service/keys.ts';
import { type Dismissed, isShown } from '../../service/notices.ts';
import type { HttpContext } from '../context.ts';
import { nothingToChange } from '../reply.ts';
import { type AccountContext, type Route, route } from '../route.ts';

const DASHBOARD_KEYS_PATH = '/dashboard/accounts/:account/keys';

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

const dashboardKeyReply = (key: Key, now: number, dismissed: Dismissed): C.DashboardKey => ({
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
  notices: noticesOf(key, now)
    .filter(isShown(dismissed))
    .map(({ notice }) => notice),
});

type Reader = Pick<AccountContext, 'account' | 'user'>;

/** As the user sees it, who may have dismissed what is to be said of it. */
const replyTo =
  ({ notices, clock }: Pick<HttpContext, 'notices' | 'clock'>) =>
  async ({ account, user }: Reader, key: Key): Promise<C.DashboardKey> =>
    dashboardKeyReply(key, clock.now(), await notices.dismissed(account, user.id));

export const KEY_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: DASHBOARD_KEYS_PATH,
    access: 'viewer',
    cost: null,
    output: { content: C.KeysReply },
    doc: { operationId: 'listKeys', summary: 'API keys, newest first, revoked ones last' },
    serve:
      ({ keys, notices, clock }) =>
      async ({ account, user }) => {
        const [all, dismissed] = await Promise.all([keys.list(account), notices.dismissed(account, user.id)]);
        return { body: { keys: all.map((key) => dashboardKeyReply(key, clock.now(), dismissed)) } };
      },
  }),
  route({
    method: 'GET',
    path: '/dashboard/accounts/:account/key-usage',
    access: 'viewer',
    cost: 'query',
    input: { query: KeyUsageQuery },
    output: { content: C.KeyUsageReply },
    doc: { operationId: 'keyUsage', summary: 'Verifications with each key by day' },
    serve:
      ({ keys }) =>
      async ({ account }, { query: { source = null } }) => ({
        body: (await keys.usage(account, source)) satisfies C.KeyUsageReply,
      }),
  }),
  route({
    method: 'GET',
    path: `${DASHBOARD_KEYS_PATH}/:id`,
    access: 'viewer',
    cost: 'query',
    output: { content: C.KeyDetailReply },
    doc: { operationId: 'key', summary: 'One API key, and the addresses that used it lately' },
    serve:
      (context) =>
      async (reader, { params }) => {
        const { key, clients } = await context.keys.get(reader.account, params.id);
        return {
          body: {
            key: await replyTo(context)(reader, key),
            clients: clients.map(({ ip, requests, lastAt }) => ({ ip, requests, last_at: toIso(lastAt) })),
          } satisfies C.KeyDetailReply,
        };
      },
  }),
  route({
    method: 'POST',
    path: DASHBOARD_KEYS_PATH,
    access: 'admin',
    input: { body: C.KeyCreateRequest },
    output: { status: 201, content: C.KeyCreatedReply },
    doc: { operationId: 'createKey', summary: 'Create a key; its value is shown only once', errors: [422] },
    serve:
      (context) =>
      async (by, { body: { name, allow_ips = [], ...limits } }) => {
        const input = { ...settingsOf(limits), name, allowIps: allow_ips };
        const { key, value } = await context.keys.create(by.account, input, by.actor);
        return { body: { key: await replyTo(context)(by, key), value } };
      },
  }),
  route({
    method: 'PATCH',
    path: `${DASHBOARD_KEYS_PATH}/:id`,
    access: 'admin',
    input: { body: C.KeyChangeRequest },
    output: { content: C.DashboardKey },
    doc: { operationId: 'changeKey', summary: 'Change name, allowlist, expiry, scopes and budget', errors: [422] },
    serve:
      (context) =>
      async (by, { params, body }) => {
        if (Object.keys(body).length === 0)
          throw nothingToChange('name, allow_ips, expires_at, scopes or monthly_credits');
        const change = { ...settingsOf(body), name: body.name };
        const key = await context.keys.change(by.account, params.id, change, by.actor);
        return { body: await replyTo(context)(by, key) };
      },
  }),
  route({
    method: 'POST',
    path: `${DASHBOARD_KEYS_PATH}/:id/revoke`,
    access: 'admin',
    input: { body: C.KeyRevokeRequest },
    output: { content: C.DashboardKey },
    doc: { operationId: 'revokeKey', summary: 'Revoke a key immediately and permanently', errors: [422] },
    serve:
      (context) =>
      async (by, { params, body: { name } }) => ({
        body: await replyTo(context)(by, await context.keys.revoke(by.account, params.id, name, by.actor)),
      }),
  }),
  route({
    method: 'POST',
    path: `${DASHBOARD_KEYS_PATH}/:id/roll`,
    access: 'admin',
    input: { body: C.KeyRollRequest },
    output: { status: 201, content: C.KeyCreatedReply },
    doc: {
      operationId: 'rollKey',
      summary: 'Create a key with the same settings and revoke this one after a grace period',
      errors: [422],
    },
    serve:
      (context) =>
      async (by, { params, body: { grace_seconds } }) => {
        const { key, value } = await context.keys.roll(by.account, params.id, grace_seconds * 1000, by.actor);
        return { body: { key: await replyTo(context)(by, key), value } };
      },
  }),
];
