/** What auth servers call before they create a user. */
import { HOOK_KINDS } from '../../kernel/facts/hooks.ts';
import { HOOK_BODY_BYTES } from '../../kernel/facts/limits.ts';
import { isDisconnected } from '../exchange.ts';
import { JSON_TYPE, noteError } from '../reply.ts';
import { type Route, route } from '../route.ts';
import { HOOK_CALLERS } from './callers.ts';

export const HOOK_ROUTES: readonly Route[] = HOOK_KINDS.map((kind) =>
  route({
    method: 'POST',
    path: `/hooks/:id/${kind}`,
    access: 'hook',
    via: kind,
    // JSON, whatever the header says: its signature counts.
    input: { bodyLimit: HOOK_BODY_BYTES, lenient: true },
    serve:
      ({ hooks, clock }) =>
      async ({ hook, secret, sent, event, began, ip, request, reply }) => {
        const { signUpOf, replyOf } = HOOK_CALLERS[kind];
        const call = { hook, signUp: signUpOf(sent), event, ip, began, gone: () => isDisconnected(reply) };
        const { answer, cause } = await hooks.answer(call);
        // Whoever asked gets an answer. Why it is not a verdict is for the account's log.
        if (cause !== null) noteError(request, cause);
        request.answer = answer.action;
        const { status, body } = replyOf(answer, { secret, now: clock.now() });
        return { status, body: JSON.stringify(body), type: JSON_TYPE };
      },
  }),
);
