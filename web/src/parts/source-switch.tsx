import { t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Button, Group } from '@mantine/core';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import type { UsageSource } from '../../../src/kernel/facts/outcomes.ts';
import { type SourceSearch, sourceSearch } from './source.ts';

const LABELS: Readonly<Record<UsageSource | 'all', string>> = { all: t`All`, api: 'API', list: t`Lists` };
const TITLES: Readonly<Record<UsageSource | 'all', string>> = {
  all: t`Calls and lists`,
  api: t`Calls, one address each, from the dashboard as well`,
  list: t`Results of lists`,
};

export function SourceSwitch(props: { source: UsageSource | undefined; onChange: (search: SourceSearch) => void }) {
  const { source = 'all', onChange } = props;
  return (
    <Group gap={4} role="group" aria-label={t`Source`}>
      {keysOf(LABELS).map((one) => (
        <Button
          key={one}
          size="xs"
          title={TITLES[one]}
          variant={one === source ? 'light' : 'default'}
          aria-pressed={one === source}
          onClick={() => onChange(sourceSearch({ source: one }))}
        >
          {LABELS[one]}
        </Button>
      ))}
    </Group>
  );
}

/** Said where a source is chosen, and not everything has one. */
export const WithoutSource = ({ count, source }: { count: number; source: UsageSource | undefined }) =>
  source === undefined || count === 0 ? null : (
    <p className="dim">
      <Trans>
        <Plural value={count} one="# verification" other="# verifications" /> of this time in “All” only: counted before
        the service counted calls and lists separately.
      </Trans>
    </p>
  );
