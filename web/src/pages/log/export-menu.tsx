import { useAccount } from '../../api/session.ts';
import { DownloadMenu } from '../../parts/download-menu.tsx';
import { Icon } from '../../parts/icon.tsx';
import { type LogSearch, logQuery } from './search.ts';

const FORMAT_LABELS = { csv: 'CSV', jsonl: 'JSON Lines' } as const;

/** The log as a file: what the search finds, or all of it. */
export function ExportMenu({ search, isSearch }: { search: LogSearch; isSearch: boolean }) {
  const { id: account } = useAccount();
  const href = (query: LogSearch) => (format: keyof typeof FORMAT_LABELS) =>
    `/dashboard/accounts/${encodeURIComponent(account)}/log.${format}?${new URLSearchParams(logQuery(query, Date.now()))}`;
  const all = { label: 'All rows', icon: <Icon name="logs" />, href: href({}) };
  const found = { label: 'Rows of this search', icon: <Icon name="search" />, href: href(search) };
  return <DownloadMenu label="Export" formats={FORMAT_LABELS} parts={isSearch ? [found, all] : [all]} />;
}
