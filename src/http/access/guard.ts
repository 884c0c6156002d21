import type { HttpContext } from '../context.ts';
import type { InputReading } from '../input/reader.ts';
import type { Answer, AnyInput, RequestContext, Route } from '../route.ts';

/**
 * One access rule: checks the request, reads its input when the contract's order of errors says so, mints what the
 * handler is given, and calls the handler. Throws ApiError for a request that may not pass.
 */
type Guard<Granted extends RequestContext> = (
  request: RequestContext,
  read: () => Promise<InputReading>,
  serve: (granted: Granted, input: AnyInput) => Promise<Answer>,
) => Promise<Answer>;

/** Guards one row. */
export type GuardFor<Granted extends RequestContext> = (context: HttpContext, route: Route) => Guard<Granted>;

/** Returns the input, where there is no problem with it. */
export function complete({ input, problem }: InputReading): AnyInput {
  if (problem !== null) throw problem;
  return input;
}
