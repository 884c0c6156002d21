import { t } from '@lingui/core/macro';
import type { ResultFormat } from '../../../../src/kernel/facts/lists.ts';
import type { ListHere } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { SEGMENT_LABELS } from '../../parts/chart/bars.ts';
import { DownloadMenu } from '../../parts/download-menu.tsx';
import { Glyph } from '../../parts/glyph.tsx';
import { Icon } from '../../parts/icon.tsx';
import { VERDICTS } from './deliverability.ts';
import { notCheckedOf } from './progress-bar.tsx';
import type { ListSearch } from './search.ts';
import { countOf, resultsHref, shownFilter, titleOf } from './shown-rows.ts';

/** The first is what most people open, and keeps texts such as 01234 as they are. */
const FORMAT_LABELS: Readonly<Record<ResultFormat, string>> = { xlsx: 'XLSX', csv: 'CSV', jsonl: 'JSON Lines' };

/** The file with its results: the rows that are shown, what can be written to, the rows of one verdict, or all rows. */
export function ListDownloads({ of, search }: { of: ListHere; search: ListSearch }) {
  const { id: account } = useAccount();
  const isAllUnchecked = notCheckedOf(of) > 0 && notCheckedOf(of) === of.deliverability.unknown;
  const href = (deliverability: string | null) => (format: ResultFormat) =>
    resultsHref(account, of.id, { format, ...(deliverability === null ? {} : { deliverability }) });
  const shown = shownFilter(search);
  return (
    <DownloadMenu
      label={t`Download`}
      formats={FORMAT_LABELS}
      parts={[
        ...(shown === null
          ? []
          : [
              {
                label: t`Rows shown: ${titleOf(search)}`,
                icon: <Icon name="search" />,
                ...(search.query === undefined ? { count: countOf(of, search) } : {}),
                href: (format: ResultFormat) => resultsHref(account, of.id, { format, ...shown }),
              },
            ]),
        {
          label: t`Everything but undeliverable`,
          icon: <Icon name="file-spreadsheet" />,
          href: href('!undeliverable'),
        },
        ...VERDICTS.map((verdict) => ({
          label: verdict === 'unknown' && isAllUnchecked ? SEGMENT_LABELS.not_checked : SEGMENT_LABELS[verdict],
          icon: <Glyph of={verdict === 'unknown' && isAllUnchecked ? 'not_checked' : verdict} />,
          count: of.deliverability[verdict],
          href: href(verdict),
        })),
        {
          label: of.finished_at === null ? t`All rows so far` : t`All rows`,
          icon: <Icon name="file-spreadsheet" />,
          count: of.rows.total,
          href: href(null),
        },
      ]}
    />
  );
}
