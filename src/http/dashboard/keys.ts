import * as C from '../../contract/dashboard/keys.ts';
import { toIso } from '../../kernel/clock.ts';
import { KEY_PREFIX } from '../../kernel/ids.ts';
import { type Key, type MadeKey, noticesOf, stateOf } from '../../service/keys.ts';
import { nothingToChange } from './input.ts';
import { type DashboardRow, row } from './row.ts';

const KEYS = '/dashboard/accounts/:account/keys';

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : toIso(ms));

const keyReply = (key: Key, now: number): C.DashboardKey => ({
  id: key.id,
  name: key.name,
  key: `${KEY_PREFIX}…${key.lastFour}`,
  allow_ips: [...key.allowIps],
  state: stateOf(key, now),
  created_at: toIso(key.createdAt),
  revoked_at: isoOrNull(key.revokedAt),
  last_used_at: isoOrNull(key.lastUsedAt),
  last_used_ip: key.lastUsedIp,
  notices: noticesOf(key, now),
});
const madeReply = ({ key, value }: MadeKey, now: number) => ({ key: keyReply(key, now), value });

/** API keys of an account. */
export const KEY_ROWS: readonly DashboardRow[] = [
  row({
    method: 'GET',
    path: KEYS,
    who: 'member',
    doc: {
      operationId: 'listKeys',
      summary: 'The keys, newest first, revoked ones last',
      reply: { schema: C.KeysReply },
    },
    serve:
      ({ keys, clock }) =>
      async ({ account }) => ({ body: { keys: (await keys.list(account)).map((key) => keyReply(key, clock.now())) } }),
  }),
  row({
    method: 'POST',
    path: KEYS,
    who: 'admin',
    doc: {
      operationId: 'createKey',
      summary: 'Make a key; its value is shown this once',
      body: C.KeyCreateRequest,
      reply: { status: 201, schema: C.KeyCreatedReply },
    },
    serve:
      ({ keys, clock }) =>
      async ({ account, actor }, { body: { name, allow_ips = [] } }) => ({
        body: madeReply(await keys.create(account, { name, allowIps: allow_ips }, actor), clock.now()),
      }),
  }),
  row({
    method: 'PATCH',
    path: `${KEYS}/:id`,
    who: 'admin',
    doc: {
      operationId: 'changeKey',
      summary: 'Change name and allowlist',
      body: C.KeyChangeRequest,
      reply: { schema: C.DashboardKey },
      errors: [422],
    },
    serve:
      ({ keys, clock }) =>
      async ({ account, actor }, { params, body: { name, allow_ips } }) => {
        if (name === undefined && allow_ips === undefined) throw nothingToChange('name or allow_ips');
        return {
          body: keyReply(await keys.change(account, params.id!, { name, allowIps: allow_ips }, actor), clock.now()),
        };
      },
  }),
  row({
    method: 'POST',
    path: `${KEYS}/:id/revoke`,
    who: 'admin',
    doc: {
      operationId: 'revokeKey',
      summary: 'Revoke a key, at once and for good',
      body: C.KeyRevokeRequest,
      reply: { schema: C.DashboardKey },
      errors: [422],
    },
    serve:
      ({ keys, clock }) =>
      async ({ account, actor }, { params, body: { name } }) => ({
        body: keyReply(await keys.revoke(account, params.id!, name, actor), clock.now()),
      }),
  }),
  row({
    method: 'POST',
    path: `${KEYS}/:id/roll`,
    who: 'admin',
    doc: {
      operationId: 'rollKey',
      summary: 'Make a key with the same settings and revoke this one after a grace',
      body: C.KeyRollRequest,
      reply: { status: 201, schema: C.KeyCreatedReply },
      errors: [422],
    },
    serve:
      ({ keys, clock }) =>
      async ({ account, actor }, { params, body: { grace_seconds } }) => ({
        body: madeReply(await keys.roll(account, params.id!, grace_seconds * 1000, actor), clock.now()),
      }),
  }),
];
