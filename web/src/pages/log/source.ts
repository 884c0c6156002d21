import { t } from '@lingui/core/macro';
import { HOOK_FACTS, isHookKind } from '../../../../src/kernel/facts/hooks.ts';
import type { LogEntry, RejectedRequest } from '../../api/schema.ts';

/** Contracts beside Mailvet's own API. */
const VIA_NAMES: Readonly<Record<NonNullable<LogEntry['via']>, string>> = {
  mcp: 'MCP',
  reacher: t`Reacher’s API`,
  kickbox: t`Kickbox’s API`,
  zerobounce: t`ZeroBounce’s API`,
  neverbounce: t`NeverBounce’s API`,
  emailable: t`Emailable’s API`,
  supabase: HOOK_FACTS.supabase.name,
  workos: HOOK_FACTS.workos.name,
  kratos: HOOK_FACTS.kratos.name,
  zitadel: HOOK_FACTS.zitadel.name,
  generic: HOOK_FACTS.generic.name,
};

/** Who asked, and by which contract. */
export function sourceOf({ key, via }: Pick<LogEntry | RejectedRequest, 'key' | 'via'>): string {
  if (key === null) return t`Dashboard`;
  if (isHookKind(via)) return t`Auth hook “${key.name}” of ${VIA_NAMES[via]}`;
  return via === null ? t`API key “${key.name}”` : t`API key “${key.name}”, by ${VIA_NAMES[via]}`;
}
