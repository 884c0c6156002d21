import { acceptLanguage, type FormGuardOptions, formGuard, type GuardOutcome, outcomes, REJECTED } from './form.ts';

export type { FormGuardOptions, GuardOptions, GuardOutcome, GuardRejection, RejectionBody } from './form.ts';

/** As much of Express as this needs. */
interface ExpressRequest {
  readonly body?: unknown;
  readonly ip?: string | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
}
interface ExpressResponse {
  status(code: number): { json(body: unknown): unknown };
}

const passed = outcomes();

/**
 * Middleware behind the body parser: replies with 422 to an address that `guard` rejects. The user's IP address is
 * `request.ip`, which follows the `trust proxy` setting.
 */
export function emailGuard<Request extends ExpressRequest = ExpressRequest>(options: FormGuardOptions<Request>) {
  const guarded = formGuard<Request>(options, acceptLanguage, (request) => request.ip);
  return async (request: Request, response: ExpressResponse, next: (error?: unknown) => void): Promise<void> => {
    let outcome: GuardOutcome;
    try {
      outcome = await guarded.check(request.body, request);
    } catch (error) {
      // Express 4 does not wait: a rejection would end the process.
      next(error);
      return;
    }
    if (!outcome.ok) {
      response.status(REJECTED).json(guarded.body(outcome));
      return;
    }
    passed.set(request, outcome);
    next();
  };
}

/** What `emailGuard` found about this request. */
export const outcomeOf = (request: object): GuardOutcome => passed.of(request);
