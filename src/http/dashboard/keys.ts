import * as C from '../../contract/dashboard/keys.ts';
import { pending } from './pending.ts';
import { type DashboardRow, row } from './row.ts';

const KEYS = '/dashboard/accounts/:account/keys';

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
    serve: pending,
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
    serve: pending,
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
    },
    serve: pending,
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
    serve: pending,
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
    serve: pending,
  }),
];
