/** Hooks that auth servers call before they create a user. */
import { HOOK_TIMEOUT_MS } from './limits.ts';

/** Whose contract a hook speaks; `generic`: any program that signs its requests by Standard Webhooks. */
export const HOOK_KINDS = ['supabase', 'workos', 'kratos', 'zitadel', 'generic'] as const;
export type HookKind = (typeof HOOK_KINDS)[number];

interface HookFacts {
  readonly name: string;
  /** Who makes the secret. The caller does so once it knows the URL, so that such a hook begins without one. */
  readonly secretOf: 'us' | 'caller';
  /** How long the caller waits for the reply, where that cannot be configured. */
  readonly timeoutMs: number;
}

/** Sources are on the page docs/auth-hooks.md. */
export const HOOK_FACTS: Readonly<Record<HookKind, HookFacts>> = {
  supabase: { name: 'Supabase', secretOf: 'us', timeoutMs: 5_000 },
  // WorkOS documents no limit. People wait for the reply.
  workos: { name: 'WorkOS', secretOf: 'caller', timeoutMs: 5_000 },
  kratos: { name: 'Ory Kratos', secretOf: 'us', timeoutMs: HOOK_TIMEOUT_MS.max },
  // As in the target that its guide creates.
  zitadel: { name: 'ZITADEL', secretOf: 'caller', timeoutMs: 10_000 },
  generic: { name: 'Generic', secretOf: 'us', timeoutMs: 5_000 },
};

export const isHookKind = (text: string | null | undefined): text is HookKind =>
  HOOK_KINDS.some((kind) => kind === text);
