import * as C from '../../contract/dashboard/hooks.ts';
import { Done } from '../../contract/dashboard/session.ts';
import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import { given } from '../../kernel/facts/given.ts';
import { HOOK_FACTS } from '../../kernel/facts/hooks.ts';
import type { Hook, HookWithSecret } from '../../service/hooks.ts';
import { done } from '../access/session.ts';
import { nothingToChange } from '../reply.ts';
import { type Route, route } from '../route.ts';

const HOOKS = '/dashboard/accounts/:account/hooks';

/** `base` is the public URL of the service. */
const hookReply = (hook: Hook, base: string): C.HookReply => ({
  id: hook.id,
  kind: hook.kind,
  name: hook.name,
  policy: hook.policy,
  scope: hook.scope,
  url: `${base}/hooks/${hook.id}/${hook.kind}`,
  timeout_ms: hook.timeoutMs,
  rate_limit: hook.rateLimit,
  has_secret: hook.hasSecret,
  previous_secret_until: toIsoOrNull(hook.previousSecretUntil),
  created_at: toIso(hook.createdAt),
  last_used_at: toIsoOrNull(hook.lastUsedAt),
});
const hookWithSecret = ({ hook, secret }: HookWithSecret, base: string) => ({ hook: hookReply(hook, base), secret });

/** Auth servers call these. */
export const HOOK_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: HOOKS,
    access: 'viewer',
    cost: null,
    output: { content: C.HooksReply },
    doc: { operationId: 'listHooks', summary: 'Hooks of auth servers, oldest first' },
    serve:
      ({ hooks, url }) =>
      async ({ account }) => ({ body: { hooks: (await hooks.list(account)).map((hook) => hookReply(hook, url())) } }),
  }),
  route({
    method: 'POST',
    path: HOOKS,
    access: 'admin',
    input: { body: C.HookCreateRequest },
    output: { status: 201, content: C.HookWithSecretReply },
    doc: {
      operationId: 'createHook',
      summary: 'Create a hook for a policy; its secret is shown only once',
      errors: [422],
    },
    serve:
      ({ hooks, url }) =>
      async ({ account, actor }, { body: { kind, name, policy, scope = null, ...limits } }) => {
        const { timeout_ms: timeoutMs = HOOK_FACTS[kind].timeoutMs, rate_limit: rateLimit = null } = limits;
        return {
          body: hookWithSecret(
            await hooks.create(account, { kind, name, policy, scope, timeoutMs, rateLimit }, actor),
            url(),
          ),
        };
      },
  }),
  route({
    method: 'PATCH',
    path: `${HOOKS}/:id`,
    access: 'admin',
    input: { body: C.HookChangeRequest },
    output: { content: C.HookReply },
    doc: { operationId: 'changeHook', summary: 'Change name, policy, scope and limits', errors: [422] },
    serve:
      ({ hooks, url }) =>
      async (
        { account, actor },
        { params: { id }, body: { timeout_ms: timeoutMs, rate_limit: rateLimit, ...rest } },
      ) => {
        const change = { ...rest, ...given({ timeoutMs, rateLimit }) };
        if (Object.keys(change).length === 0) throw nothingToChange('name, policy, scope, timeout_ms or rate_limit');
        return { body: hookReply(await hooks.change(account, id, change, actor), url()) };
      },
  }),
  route({
    method: 'POST',
    path: `${HOOKS}/:id/roll`,
    access: 'admin',
    input: { body: C.HookRollRequest },
    output: { content: C.HookWithSecretReply },
    doc: {
      operationId: 'rollHookSecret',
      summary: 'Replace the secret, or enter that of the auth server; the one before is accepted for a while',
      errors: [422],
    },
    serve:
      ({ hooks, url }) =>
      async ({ account, actor }, { params: { id }, body: { secret, grace_seconds: seconds } }) => ({
        body: hookWithSecret(await hooks.roll(account, id, { secret, graceMs: seconds * 1000 }, actor), url()),
      }),
  }),
  route({
    method: 'DELETE',
    path: `${HOOKS}/:id`,
    access: 'admin',
    output: { content: Done },
    doc: { operationId: 'deleteHook', summary: 'Delete a hook: its calls are refused from now on' },
    serve:
      ({ hooks }) =>
      async ({ account, actor }, { params: { id } }) => {
        await hooks.remove(account, id, actor);
        return done('Hook deleted.');
      },
  }),
];
