import { t } from '@lingui/core/macro';
import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { formatNumber } from '../../parts/format.ts';
import { planLabel } from '../../parts/plans.ts';
import { plansQuery } from './queries.ts';

/** `value`: null for the plan of new accounts. */
export function PlanSelect({ value, onChange }: { value: string | null; onChange: (plan: string) => void }) {
  const { data } = useQuery(plansQuery);
  const plans = data?.plans ?? [];
  const chosen = plans.find(({ name }) => name === value) ?? (value === null ? plans[0] : undefined);
  const names = value === null || chosen !== undefined ? plans.map(({ name }) => name) : [value];
  const monthly = chosen?.monthly_credits;
  const about = [
    chosen?.smtp_available === false && t`Without the smtp level.`,
    monthly === null && t`Unlimited credits.`,
    typeof monthly === 'number' && monthly > 0 && t`${formatNumber(monthly)} credits a month.`,
  ].filter((text) => typeof text === 'string');
  return (
    <NativeSelect
      label={t`Plan`}
      description={about.join(' ') || undefined}
      data={names.map((name) => ({ value: name, label: planLabel(name) }))}
      value={chosen?.name ?? value ?? ''}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
