import { acceptLanguage, type FormGuardOptions, formGuard, type GuardOutcome, outcomes, REJECTED } from './form.ts';

export type { FormGuardOptions, GuardOptions, GuardOutcome, GuardRejection, RejectionBody } from './form.ts';

/** As much of Fastify as this needs. */
interface FastifyRequest {
  readonly body?: unknown;
  readonly ip?: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}
interface FastifyReply {
  code(status: number): { send(body: unknown): unknown };
}

const passed = outcomes();

/**
 * A `preHandler` hook: replies with 422 to an address that `guard` rejects. The user's IP address is `request.ip`,
 * which follows the `trustProxy` option.
 */
export function emailGuard(options: FormGuardOptions<FastifyRequest>) {
  const guarded = formGuard(options, acceptLanguage, (request) => request.ip);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const outcome = await guarded.check(request.body, request);
    // Fastify takes a returned reply as the end of the request.
    if (!outcome.ok) return reply.code(REJECTED).send(guarded.body(outcome));
    passed.set(request, outcome);
    return undefined;
  };
}

/** What `emailGuard` found about this request. */
export const outcomeOf = (request: object): GuardOutcome => passed.of(request);
