import { Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { count } from '../../parts/words.ts';
import css from './usage.module.css';

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

export interface Share {
  readonly id: string;
  readonly name: ReactNode;
  readonly requests: number;
  readonly credits?: number;
}

/** What the requests were made of: the largest first, each with its part of the whole. */
export function Shares({ title, header, rows }: { title: string; header: string; rows: readonly Share[] }) {
  const all = rows.reduce((sum, { requests }) => sum + requests, 0);
  const columns: Column<Share>[] = [
    { header, cell: ({ name }) => <div className={css.name}>{name}</div> },
    { header: 'Requests', cell: ({ requests }) => count(requests), numeric: true },
    ...(rows.some(({ credits }) => credits !== undefined)
      ? [{ header: 'Credits', cell: ({ credits }: Share) => count(credits ?? 0), numeric: true }]
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
