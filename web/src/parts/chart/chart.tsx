import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Center, Loader, Text, Title } from '@mantine/core';
import { Suspense, useId, useState } from 'react';
import { type Column, DataTable } from '../data-table.tsx';
import { formatNumber, inSentence, zoneName } from '../format.ts';
import { lazyPart, notDrawn, PartBoundary } from '../lazy.tsx';
import { hasOutlier } from './bars.ts';
import bars from './bars-chart.module.css';
import { AXIS_WIDTH, BucketLinks, type To } from './bucket-links.tsx';
import css from './chart.module.css';
import { type ChartData, formatBucket, type Series, toneColor } from './series.ts';

/** The chart library is loaded on demand. */
const Plot = lazyPart(() => import('./plot.tsx'), 'Plot');

/**
 * A chart with a text summary and its data as a table; each bucket opens its rows. `unit` is appended to the values;
 * all times are UTC.
 */
export function Chart(props: {
  title: string;
  summary: string;
  unit?: string;
  data: ChartData;
  /** The rows of the bucket that starts at this time; without it, there are none to open. */
  linkOf?: (at: string) => To;
}) {
  const { title, summary, unit = '', data, linkOf } = props;
  const { at, bucket, series } = data;
  const [pointed, setPointed] = useState<number | null>(null);
  const [log, setLog] = useState(false);
  const name = useId();
  const outlier = series.some(({ values }) => hasOutlier(values.map((value) => value ?? 0)));
  const textOf = (i: number) =>
    `${formatBucket(at[i]!, bucket)}: ${series.map(({ label, values }) => `${label} ${formatValue(values[i], unit)}`).join(', ')}`;
  return (
    <figure className={css.figure} aria-labelledby={name}>
      <figcaption className={css.head}>
        <div>
          <Title order={2} id={name}>
            {title}
          </Title>
          <Text size="sm">{summary}</Text>
        </div>
        {outlier && (
          <button
            type="button"
            className={bars.switch}
            aria-pressed={log}
            onClick={() => setLog(!log)}
          >{t`Logarithmic scale`}</button>
        )}
      </figcaption>
      <Legend data={data} pointed={pointed} unit={unit} />
      <div className={css.place} onPointerLeave={() => setPointed(null)}>
        <PartBoundary part={Plot} failed={notDrawn}>
          <Suspense fallback={<ChartLoader />}>
            <Plot data={data} unit={unit} log={outlier && log} />
          </Suspense>
        </PartBoundary>
        <div className={css.columns} style={{ right: AXIS_WIDTH }}>
          <BucketLinks
            label={`${bucket === 'day' ? t`Days` : t`Hours`}: ${inSentence(title)}`}
            buckets={at.map((start, i) => ({ at: start, text: textOf(i), to: linkOf?.(start) ?? null }))}
            pointed={pointed}
            onPoint={setPointed}
          />
        </div>
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
      {data.series.map(({ label, tone, line, values }) => (
        <li key={label}>
          <span className={css.swatch} style={{ borderTopColor: toneColor(tone) }} data-line={line} />
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
    {
      header: data.bucket === 'day' ? t`Day (UTC)` : t`Hour (${zoneName(data.at[0] ?? Date.now())})`,
      cell: (i) => formatBucket(data.at[i]!, data.bucket),
    },
    ...data.series.map(({ label, values }: Series) => ({
      header: label,
      numeric: true,
      cell: (i: number) => formatValue(values[i], unit),
    })),
  ];
  return (
    <details className={css.details} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>
        <Trans>Data: {inSentence(title)}</Trans>
      </summary>
      {opened && (
        <div className={css.numbers}>
          <DataTable
            label={t`Data: ${inSentence(title)}`}
            columns={columns}
            rows={data.at.map((_, i) => i)}
            rowKey={(i) => i}
          />
        </div>
      )}
    </details>
  );
}
