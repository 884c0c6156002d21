import { HttpException } from '@nestjs/common';
import { acceptLanguage, type FormGuardOptions, formGuard, type GuardOutcome, outcomes, REJECTED } from './form.ts';

export type { FormGuardOptions, GuardOptions, GuardOutcome, GuardRejection, RejectionBody } from './form.ts';

/** As much of a request as this needs; those of Express and Fastify have it. */
interface NestRequest {
  readonly body?: unknown;
  readonly ip?: string | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
}
interface NestContext {
  switchToHttp(): { getRequest<Request>(): Request };
}

const passed = outcomes();

/**
 * For `@UseGuards()`: throws an HttpException with status 422 for an address that `guard` rejects. The user's IP
 * address is `request.ip`.
 */
export function emailGuard<Request extends NestRequest = NestRequest>(
  options: FormGuardOptions<Request>,
): { canActivate(context: NestContext): Promise<boolean> } {
  const guarded = formGuard<Request>(options, acceptLanguage, (request) => request.ip);
  return {
    async canActivate(context) {
      const request = context.switchToHttp().getRequest<Request>();
      const outcome = await guarded.check(request.body, request);
      if (!outcome.ok) throw new HttpException(guarded.body(outcome), REJECTED);
      passed.set(request, outcome);
      return true;
    },
  };
}

/** What `emailGuard` found about this request. */
export const outcomeOf = (request: object): GuardOutcome => passed.of(request);
