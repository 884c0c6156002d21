import { type GuardOptions, guardWhenUsed } from './guard.ts';

export type { GuardOptions, GuardOutcome, GuardRejection } from './guard.ts';

/** As much of Zod as this needs. */
interface RefinementContext {
  readonly issues: readonly unknown[];
  addIssue(issue: { code: 'custom'; message: string; params: Record<string, unknown> }): void;
}

/**
 * For `.superRefine()`, parsed with `parseAsync` or `safeParseAsync`: adds an issue to an address that `guard` rejects,
 * with `code` and `suggestion` in its `params`. Values with other issues are not verified. A refinement cannot change
 * the value: `emailTransform` does.
 */
export function emailGuard(options: GuardOptions): (email: string, context: RefinementContext) => Promise<void> {
  const transform = emailTransform(options);
  return async (email, context) => {
    await transform(email, context);
  };
}

/** The same for `.transform()`, whose output is the address to store. */
export function emailTransform(options: GuardOptions): (email: string, context: RefinementContext) => Promise<string> {
  const verify = guardWhenUsed(options);
  return async (email, context) => {
    if (context.issues.length > 0) return email;
    const outcome = await verify(email);
    if (outcome.ok) return outcome.email;
    const { code, message, suggestion } = outcome;
    context.addIssue({ code: 'custom', message, params: { code, suggestion } });
    return email;
  };
}
