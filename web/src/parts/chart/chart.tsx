import { Center, Loader, Text, Title, useComputedColorScheme } from '@mantine/core';
import { lazy, Suspense, useId, useState } from 'react';
import { type Column, DataTable } from '../data-table.tsx';
import { count } from '../words.ts';
import css from './chart.module.css';
import { bucketName, type ChartData, type Series, toneColor } from './series.ts';

/** The library that draws is fetched when there is something to draw. */
const Plot = lazy(() => import('./plot.tsx').then((module) => ({ default: module.Plot })));

/**
 * A chart with what it says in words, and its numbers in a table for who wants them or does not see it. `unit` stands
 * behind the numbers; all times are UTC.
 */
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
      <div role="img" aria-label={`${title}, as a chart. ${summary}`}>
        <Suspense fallback={<Waiting />}>
          <Plot data={data} onPoint={setPointed} />
        </Suspense>
      </div>
      <Numbers title={title} unit={unit} data={data} />
    </figure>
  );
}

const Waiting = () => (
  <Center h={200}>
    <Loader size="sm" aria-hidden />
  </Center>
);

const shown = (value: number | null | undefined, unit: string): string =>
  value === null || value === undefined ? '–' : `${count(value)}${unit}`;

/** Which colour is what, and the numbers of the bucket that is pointed at. */
function Legend({ data, pointed, unit }: { data: ChartData; pointed: number | null; unit: string }) {
  const dark = useComputedColorScheme('light') === 'dark';
  const at = pointed === null ? undefined : data.at[pointed];
  return (
    <ul className={css.legend}>
      {data.series.map(({ label, tone, broken, values }) => (
        <li key={label}>
          <span
            className={css.swatch}
            style={{ borderTopColor: toneColor(tone, dark) }}
            {...(broken ? { 'data-broken': true } : {})}
          />
          {label}
          {at !== undefined && <span className="numbers">: {shown(values[pointed!], unit)}</span>}
        </li>
      ))}
      {at !== undefined && <li>{bucketName(at, data.bucket)}</li>}
    </ul>
  );
}

/** Made when it is opened: hundreds of rows that few look at. */
function Numbers({ title, unit, data }: { title: string; unit: string; data: ChartData }) {
  const [opened, setOpened] = useState(false);
  const columns: Column<number>[] = [
    { header: data.bucket === 'day' ? 'Day (UTC)' : 'Hour (UTC)', cell: (i) => bucketName(data.at[i]!, data.bucket) },
    ...data.series.map(({ label, values }: Series) => ({
      header: label,
      numeric: true,
      cell: (i: number) => shown(values[i], unit),
    })),
  ];
  return (
    <details className={css.details} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>Numbers: {title.toLowerCase()}</summary>
      {opened && (
        <div className={css.numbers}>
          <DataTable
            label={`Numbers: ${title.toLowerCase()}`}
            columns={columns}
            rows={data.at.map((_, i) => i)}
            rowKey={(i) => i}
          />
        </div>
      )}
    </details>
  );
}
