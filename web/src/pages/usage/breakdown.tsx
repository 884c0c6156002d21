import { Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatNumber } from '../../parts/format.ts';
import css from './usage.module.css';

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

interface BreakdownRow {
  readonly id: string;
  readonly name: ReactNode;
  readonly requests: number;
  readonly credits?: number;
}

/** Requests by group, largest first, each with its share of the total. */
export function Breakdown({ title, header, rows }: { title: string; header: string; rows: readonly BreakdownRow[] }) {
  const all = rows.reduce((sum, { requests }) => sum + requests, 0);
  const columns: Column<BreakdownRow>[] = [
    { header, cell: ({ name }) => <div className={css.name}>{name}</div> },
    { header: 'Requests', cell: ({ requests }) => formatNumber(requests), numeric: true },
    ...(rows.some(({ credits }) => credits !== undefined)
      ? [{ header: 'Credits', cell: ({ credits }: BreakdownRow) => formatNumber(credits ?? 0), numeric: true }]
      : []),
    {
      header: 'Share',
      cell: ({ requests }) => (
        <span className={css.share}>
          <span className={css.track} aria-hidden>
            <span className={css.bar} style={{ width: `${(requests / all) * 100}%` }} />
          </span>
          <span className={css.percent}>{percent.format(requests / all)}</span>
        </span>
      ),
    },
  ];
  return (
    <div>
      <Title order={2} mb="xs">
        {title}
      </Title>
      <DataTable label={title} columns={columns} rows={rows} rowKey={({ id }) => id} />
    </div>
  );
}
