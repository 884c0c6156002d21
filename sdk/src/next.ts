import { fieldsOf, withFields } from './body.ts';
import { type FormGuardOptions, fieldOf, formGuard, type GuardCheck, type GuardOutcome, REJECTED } from './form.ts';

export type {
  FormGuardOptions,
  GuardCheck,
  GuardOptions,
  GuardOutcome,
  GuardRejection,
  RejectionBody,
} from './form.ts';

/**
 * A Route Handler that replies with 422 to an address that `guard` rejects, and otherwise calls `handler` with a
 * request whose body has the address to store. Next.js does not know the user's IP address: `clientIp` can take it from
 * a header that your proxy sets.
 */
export function guardRoute<Incoming extends Request, Context>(
  options: FormGuardOptions<Incoming>,
  handler: (request: Incoming, context: Context, outcome: GuardOutcome) => Response | Promise<Response>,
): (request: Incoming, context: Context) => Promise<Response> {
  const guarded = formGuard<Incoming>(options, ({ headers }) => headers.get('accept-language'));
  return async (request, context) => {
    const fields = await fieldsOf(request);
    const typed = fieldOf(fields, options.field);
    const outcome = await guarded.check(fields, request, { signal: request.signal });
    if (!outcome.ok) return Response.json(guarded.body(outcome), { status: REJECTED });
    return handler(typed === outcome.email ? request : withFields(request, fields), context, outcome);
  };
}

/** For Server Actions: takes the FormData of the action. */
export function formDataGuard(
  options: Omit<FormGuardOptions, 'clientIp'>,
): (form: FormData, check?: GuardCheck) => Promise<GuardOutcome> {
  const guarded = formGuard<null>(options, () => null);
  return (form, check) => guarded.check(form, null, check);
}
