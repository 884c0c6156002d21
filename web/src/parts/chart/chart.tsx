import { Center, Loader, Text, Title } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense, useId, useState } from 'react';
import { type Column, DataTable } from '../data-table.tsx';
import { formatNumber } from '../format.ts';
import css from './chart.module.css';
import { type ChartData, formatBucket, type Series, toneColor } from './series.ts';

/** The chart library is loaded on demand; if its file is gone after an upgrade, the page is reloaded once. */
const Plot = lazyRouteComponent(() => import('./plot.tsx'), 'Plot');

/** A chart with a text summary and its data as a table. `unit` is appended to the values; all times are UTC. */
export function Chart(props: { title: string; summary: string; unit?: string; data: ChartData }) {
  const { title, summary, unit = '', data } = props;
  const [pointed, setPointed] = useState<number | null>(null);
  const name = useId();
  return (
    <figure className={css.figure} aria-labelledby={name}>
      <figcaption>
        <Title order={2} id={name}>
          {title}
        </Title>
        <Text size="sm">{summary}</Text>
      </figcaption>
      <Legend data={data} pointed={pointed} unit={unit} />
      <div role="img" aria-label={`Chart: ${title}. ${summary}`}>
        <Suspense fallback={<ChartLoader />}>
          <Plot data={data} onPoint={setPointed} />
        </Suspense>
      </div>
      <DataDetails title={title} unit={unit} data={data} />
    </figure>
  );
}

const ChartLoader = () => (
  <Center h={200}>
    <Loader size="sm" aria-hidden />
  </Center>
);

const formatValue = (value: number | null | undefined, unit: string): string =>
  value === null || value === undefined ? '–' : `${formatNumber(value)}${unit}`;

/** The series, with the values of the hovered bucket. */
function Legend({ data, pointed, unit }: { data: ChartData; pointed: number | null; unit: string }) {
  const at = pointed === null ? undefined : data.at[pointed];
  return (
    <ul className={css.legend}>
      {data.series.map(({ label, tone, broken, values }) => (
        <li key={label}>
          <span
            className={css.swatch}
            style={{ borderTopColor: toneColor(tone) }}
            {...(broken ? { 'data-broken': true } : {})}
          />
          {label}
          {at !== undefined && <span className="numbers">: {formatValue(values[pointed!], unit)}</span>}
        </li>
      ))}
      {at !== undefined && <li>{formatBucket(at, data.bucket)}</li>}
    </ul>
  );
}

/** The table is rendered only when opened: it may have hundreds of rows. */
function DataDetails({ title, unit, data }: { title: string; unit: string; data: ChartData }) {
  const [opened, setOpened] = useState(false);
  const columns: Column<number>[] = [
    { header: data.bucket === 'day' ? 'Day (UTC)' : 'Hour (UTC)', cell: (i) => formatBucket(data.at[i]!, data.bucket) },
    ...data.series.map(({ label, values }: Series) => ({
      header: label,
      numeric: true,
      cell: (i: number) => formatValue(values[i], unit),
    })),
  ];
  return (
    <details className={css.details} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>Data: {title.toLowerCase()}</summary>
      {opened && (
        <div className={css.numbers}>
          <DataTable
            label={`Data: ${title.toLowerCase()}`}
            columns={columns}
            rows={data.at.map((_, i) => i)}
            rowKey={(i) => i}
          />
        </div>
      )}
    </details>
  );
}
