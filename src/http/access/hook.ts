import { ApiError } from '../../kernel/errors.ts';
import { isHookKind } from '../../kernel/facts/hooks.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import { HOOK_CALLERS } from '../hooks/callers.ts';
import { bodyArrived, objectBody, rawBody } from '../input/body.ts';
import type { AnyInput, HookCallContext } from '../route.ts';
import type { GuardFor } from './guard.ts';

const NO_INPUT: AnyInput = { params: undefined, query: undefined, headers: undefined, body: undefined, warnings: [] };

/**
 * The order of errors of a hook: signature as far as headers show it, hook, size of the body, signature, JSON. Nothing
 * is read on after the first, and whoever does not know the secret does not learn whether the hook exists.
 */
export const hook: GuardFor<HookCallContext> = (context, { via, input = {} }) => {
  if (!isHookKind(via)) throw new TypeError('A route of a hook has the kind of its caller.');
  const { clock, failedAuth, hooks } = context;
  const { claimOf, toleranceMs, signUpOf } = HOOK_CALLERS[via];
  return async (granted, _read, serve) => {
    const { request, ip } = granted;
    const began = clock.elapsed();
    const refused = (why: string) => failedAuth.refuse(ip, new ApiError('invalid_signature', why));
    const claim = claimOf(request.headers);
    if (claim === null) throw refused('The request has no signature, or a malformed one.');
    if (claim.at !== null && Math.abs(clock.now() - claim.at) > toleranceMs)
      throw refused('The signature is too old, or its time is in the future. Check the clock of the caller.');
    const called = await hooks.called(request.params.id ?? '');
    if (called?.kind !== via) throw refused(NO_FIT);
    const arriving = bodyArrived(request, input);
    if (arriving !== null) await arriving;
    const raw = rawBody(request);
    const secret = raw && (called.secrets.find((one) => claim.fits(one, raw)) ?? null);
    if (raw !== null && secret === null) throw refused(NO_FIT);
    const json = objectBody(request, input);
    if (secret === null || raw === null) throw json.ok ? new TypeError('A body that is read is there.') : json.error;
    // From here on, the account is told of errors.
    const { accountId, id: keyId, plan, test } = called;
    request.caller = { accountId, keyId, plan, test };
    if (!json.ok) throw json.error;
    const eventId = signUpOf(json.value).eventId ?? claim.eventId;
    const event = eventId === null ? null : `${eventId}\n${sha256Hex(raw)}`;
    return serve({ ...granted, hook: called, secret, sent: json.value, event, began }, NO_INPUT);
  };
};

const NO_FIT = 'The signature does not fit the secret of this hook.';
