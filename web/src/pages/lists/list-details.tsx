import { Alert } from '@mantine/core';
import { LISTS_STALE_DAYS } from '../../api/limits.ts';
import type { Lists } from '../../api/schema.ts';
import { DescriptionItem, DescriptionList } from '../../parts/description-list.tsx';
import { formatNumber, pluralize } from '../../parts/format.ts';

export function ListDetails({ lists: { version, age_days, disposable_domains, problem } }: { lists: Lists }) {
  return (
    <>
      {problem !== null && (
        <Alert color="red" variant="outline" title="The latest list is not in use" className="anywhere">
          {problem}
        </Alert>
      )}
      {age_days > LISTS_STALE_DAYS && (
        <Alert color="yellow" variant="outline" title="The list is outdated">
          It is {pluralize(age_days, 'day')} old. Update it now, and daily from now on.
        </Alert>
      )}
      <DescriptionList>
        <DescriptionItem term="Version">{version}</DescriptionItem>
        <DescriptionItem term="Age">{age_days === 0 ? 'Today' : pluralize(age_days, 'day')}</DescriptionItem>
        <DescriptionItem term="Domains">{formatNumber(disposable_domains)}</DescriptionItem>
      </DescriptionList>
    </>
  );
}
