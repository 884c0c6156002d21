import { Button, Popover, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import type { RESULT_FORMATS } from '../../api/limits.ts';
import type { ListHere } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { formatNumber } from '../../parts/format.ts';
import { Glyph } from '../../parts/glyph.tsx';
import { Icon } from '../../parts/icon.tsx';
import { keysOf } from '../../parts/keys-of.ts';
import { DELIVERABILITY_LABELS } from './deliverability.ts';
import css from './list.module.css';

type Format = (typeof RESULT_FORMATS)[number];
const FORMAT_LABELS: Readonly<Record<Format, string>> = { csv: 'CSV', xlsx: 'XLSX', jsonl: 'JSON Lines' };

/** The file with its results: all rows, or those of one verdict. */
export function DownloadMenu({ of }: { of: ListHere }) {
  const { id: account } = useAccount();
  const [format, setFormat] = useState<Format>('csv');
  const href = (deliverability: string | null) => {
    const query = new URLSearchParams({ format, ...(deliverability === null ? {} : { deliverability }) });
    return `/dashboard/accounts/${encodeURIComponent(account)}/lists/${encodeURIComponent(of.id)}/results?${query}`;
  };
  return (
    <Popover position="bottom-end" trapFocus portalProps={{ target: '#content' }}>
      <Popover.Target>
        <Button leftSection={<Icon name="download" />} rightSection={<Icon name="chevron-down" />}>
          Download
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Download">
        <ul className={css.downloads}>
          {keysOf(DELIVERABILITY_LABELS).map((verdict) => (
            <li key={verdict}>
              <a href={href(verdict)} download>
                <Glyph of={verdict} />
                <span>{DELIVERABILITY_LABELS[verdict]}</span>
                <span className="numbers">{formatNumber(of.deliverability[verdict])}</span>
              </a>
            </li>
          ))}
          <li>
            <a href={href(null)} download>
              <Icon name="file-spreadsheet" />
              <span>All rows{of.finished_at === null && ' so far'}</span>
              <span className="numbers">{formatNumber(of.rows.total)}</span>
            </a>
          </li>
        </ul>
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label="Format"
          value={format}
          onChange={(value) => setFormat(keysOf(FORMAT_LABELS).find((one) => one === value) ?? 'csv')}
          data={keysOf(FORMAT_LABELS).map((value) => ({ value, label: FORMAT_LABELS[value] }))}
        />
      </Popover.Dropdown>
    </Popover>
  );
}
