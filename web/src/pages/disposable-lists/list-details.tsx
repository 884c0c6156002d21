import { Alert, Text } from '@mantine/core';
import { LISTS_STALE_DAYS } from '../../../../src/kernel/facts/limits.ts';
import type { DisposableLists } from '../../api/schema.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { DescriptionItem, DescriptionList } from '../../parts/description-list.tsx';
import { formatNumber, pluralize } from '../../parts/format.ts';
import { Timestamp } from '../../parts/timestamp.tsx';

type Source = DisposableLists['sources'][number];

const COLUMNS: readonly Column<Source>[] = [
  {
    header: 'Source',
    cell: ({ name, url, license, problem }) => (
      <>
        <Text size="sm">{name}</Text>
        <Text size="xs" c="dimmed" className="anywhere">
          {url === null ? 'Not downloaded' : url} · {license}
        </Text>
        {problem !== null && (
          <Text size="xs" c="red" className="anywhere">
            Last good copy in use: {problem}
          </Text>
        )}
      </>
    ),
  },
  { header: 'Domains', cell: ({ domains }) => formatNumber(domains), numeric: true },
  {
    header: 'Downloaded',
    cell: ({ downloaded_at }) => (downloaded_at === null ? 'With the package' : <Timestamp at={downloaded_at} />),
  },
  { header: 'Weight', cell: ({ weight }) => weight, wideOnly: true },
];

export function ListDetails({ lists }: { lists: DisposableLists }) {
  const { version, age_days, disposable_domains, problem, attempted_at, failed, sources } = lists;
  return (
    <>
      {problem !== null && (
        <Alert color="red" variant="outline" title="The latest list is not in use" className="anywhere">
          {problem}
        </Alert>
      )}
      {failed !== null && (
        <Alert color="yellow" variant="outline" title="The last update failed" className="anywhere">
          {failed}
        </Alert>
      )}
      {age_days > LISTS_STALE_DAYS && (
        <Alert color="yellow" variant="outline" title="The list is outdated">
          It is {pluralize(age_days, 'day')} old. Update it now.
        </Alert>
      )}
      <DescriptionList>
        <DescriptionItem term="Version">{version}</DescriptionItem>
        <DescriptionItem term="Age">{age_days === 0 ? 'Today' : pluralize(age_days, 'day')}</DescriptionItem>
        <DescriptionItem term="Domains">{formatNumber(disposable_domains)}</DescriptionItem>
        <DescriptionItem term="Last update">
          {attempted_at === null ? 'Never' : <Timestamp at={attempted_at} />}
        </DescriptionItem>
      </DescriptionList>
      <DataTable label="Sources" columns={COLUMNS} rows={sources} rowKey={({ name }) => name} />
    </>
  );
}
