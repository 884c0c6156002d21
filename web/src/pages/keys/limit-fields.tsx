import { Checkbox, Group, TextInput } from '@mantine/core';
import { KEY_MONTHLY_CREDITS } from '../../../../src/kernel/facts/limits.ts';
import { KEY_SCOPES } from '../../../../src/kernel/facts/scopes.ts';
import type { DashboardKey } from '../../api/schema.ts';
import { parseInteger } from '../../parts/parse-integer.ts';

type KeyLimits = Pick<DashboardKey, 'expires_at' | 'scopes' | 'budget'>;

/** As the fields have them. */
interface LimitDraft {
  readonly expires: string;
  readonly scopes: DashboardKey['scopes'];
  readonly credits: string;
}

const dateOf = (at: string | null): string => at?.slice(0, 10) ?? '';

export const draftOf = ({ expires_at, scopes, budget }: KeyLimits): LimitDraft => ({
  expires: dateOf(expires_at),
  scopes,
  credits: budget === null ? '' : String(budget.monthly_credits),
});

/** For the request. An expiry that was not touched stays to the millisecond. Throws ApiError for the budget. */
export const limitsOf = ({ expires, scopes, credits }: LimitDraft, { expires_at }: KeyLimits) => ({
  expires_at: expires === dateOf(expires_at) ? expires_at : expires || null,
  scopes,
  monthly_credits: credits.trim() === '' ? null : parseInteger(credits, 'monthly_credits', KEY_MONTHLY_CREDITS.min),
});

/** Expiry, scopes and monthly budget of a key. */
export function LimitFields(props: {
  draft: LimitDraft;
  onChange: (draft: LimitDraft) => void;
  errorOf: (field: 'expires_at' | 'scopes' | 'monthly_credits') => string | undefined;
}) {
  const { draft, onChange, errorOf } = props;
  return (
    <>
      <TextInput
        type="date"
        label="Expiry date"
        description="The key is rejected from the beginning of this day (UTC). Leave empty for a key that does not expire."
        value={draft.expires}
        onChange={(event) => onChange({ ...draft, expires: event.currentTarget.value })}
        error={errorOf('expires_at')}
      />
      <Checkbox.Group
        label="Scopes"
        description="What the key may be used for."
        value={[...draft.scopes]}
        onChange={(chosen) => onChange({ ...draft, scopes: KEY_SCOPES.filter((scope) => chosen.includes(scope)) })}
        error={errorOf('scopes')}
      >
        <Group gap="md" mt={6}>
          {KEY_SCOPES.map((scope) => (
            <Checkbox key={scope} value={scope} label={scope} />
          ))}
        </Group>
      </Checkbox.Group>
      <TextInput
        label="Monthly budget"
        description="Credits that the key may spend in a calendar month (UTC). Leave empty for no budget."
        inputMode="numeric"
        autoComplete="off"
        value={draft.credits}
        onChange={(event) => onChange({ ...draft, credits: event.currentTarget.value })}
        error={errorOf('monthly_credits')}
      />
    </>
  );
}
