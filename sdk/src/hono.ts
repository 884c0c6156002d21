import { type FormGuardOptions, formGuard, type GuardOutcome, outcomes, REJECTED } from './form.ts';

export type { FormGuardOptions, GuardOptions, GuardOutcome, GuardRejection, RejectionBody } from './form.ts';

/** As much of Hono as this needs. */
interface HonoContext {
  readonly req: {
    readonly raw: Request;
    header(name: string): string | undefined;
    json(): Promise<unknown>;
    formData(): Promise<FormData>;
  };
}

const passed = outcomes();

/**
 * Middleware: replies with 422 to an address that `guard` rejects. Hono does not know the user's IP address: `clientIp`
 * can take it from a header that your proxy sets.
 */
export function emailGuard<Context extends HonoContext = HonoContext>(options: FormGuardOptions<Context>) {
  const guarded = formGuard<Context>(options, ({ req }) => req.header('accept-language'));
  return async (context: Context, next: () => Promise<void>): Promise<Response | undefined> => {
    const outcome = await guarded.check(await fieldsIn(context), context, { signal: context.req.raw.signal });
    if (!outcome.ok) return Response.json(guarded.body(outcome), { status: REJECTED });
    passed.set(context.req.raw, outcome);
    await next();
    return undefined;
  };
}

/** Hono keeps what it read for the handlers, which see the address to store in it. */
async function fieldsIn({ req }: HonoContext): Promise<unknown> {
  try {
    if (!/^application\/([\w.-]+\+)?json\b/i.test(req.header('content-type') ?? '')) return await req.formData();
    const json = await req.json();
    // It keeps the text, and each reader parses it again.
    Reflect.set(req, 'bodyCache', { json: Promise.resolve(json) });
    return json;
  } catch {
    // Not the JSON or the form that it claims to be: it has no address.
    return null;
  }
}

/** What `emailGuard` found about this request. */
export const outcomeOf = (context: HonoContext): GuardOutcome => passed.of(context.req.raw);
