import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { formatCompact } from '../format.ts';
import { heightOf, ticksOf } from './bars.ts';
import { AXIS_WIDTH } from './bucket-links.tsx';
import { type ChartData, formatTick, type Series, stack, tokenColor, toneFill } from './series.ts';

/** The canvas only; Chart adds the summary, the links and the table. `unit`: beside the top of the vertical axis. */
export function Plot({ data, unit, log }: { data: ChartData; unit: string; log: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const dark = useComputedColorScheme('light') === 'dark';
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const size = () => ({ width: Math.max(element.clientWidth, 120), height: HEIGHT });
    const plot = new uPlot({ ...options(data, unit, log), ...size() }, columns(data, log), element);
    const observer = new ResizeObserver(() => plot.setSize(size()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [data, unit, log, dark]);
  return <div ref={place} style={{ minHeight: HEIGHT }} aria-hidden />;
}

const HEIGHT = 200;
const AXIS_HEIGHT = 28;
const FONT = '11px "Hanken Grotesk", system-ui, sans-serif';
const SIZES = { hour: 3600, day: 86_400 } as const;
const DASHES: Readonly<Record<NonNullable<Series['line']>, number[]>> = { dashed: [6, 4], dotted: [2, 3] };

const times = ({ at }: ChartData): number[] => at.map((iso) => Date.parse(iso) / 1000);

/** Stacked bars are drawn from the largest sum to the smallest, each covering the lower part of the one before. */
function columns(data: ChartData, log: boolean): uPlot.AlignedData {
  const rows = data.shape === 'bars' ? stack(data.series).toReversed() : data.series.map(({ values }) => [...values]);
  return [times(data), ...rows.map((values) => values.map((value) => (value === null ? null : heightOf(value, log))))];
}

function highest(data: ChartData): number {
  const rows = data.shape === 'bars' ? stack(data.series) : data.series.map(({ values }) => values);
  return rows.flat().reduce<number>((top, value) => Math.max(top, value ?? 0), 0);
}

function options(data: ChartData, unit: string, log: boolean): Omit<uPlot.Options, 'width' | 'height'> {
  const ink = tokenColor('--ink-3');
  const grid = { stroke: tokenColor('--line'), width: 1 };
  const half = SIZES[data.bucket] / 2;
  const isBars = data.shape === 'bars';
  const paths = isBars ? uPlot.paths.bars?.({ size: [0.8, 40] }) : undefined;
  const ticks = ticksOf(highest(data), log);
  return {
    legend: { show: false },
    cursor: { show: false },
    // At the left, room for half of the first label.
    padding: [8, 0, 0, 16],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: {
      x: { range: (_, from, to) => [(from ?? 0) - half, (to ?? 0) + half] },
      y: { range: () => [0, heightOf(ticks.at(-1) ?? 1, log)] },
    },
    axes: [
      {
        stroke: ink,
        font: FONT,
        size: AXIS_HEIGHT,
        space: 60,
        grid: { show: false },
        ticks: { show: false },
        values: (_, splits) => splits.map((seconds) => formatTick(seconds, data.bucket)),
      },
      {
        side: 1,
        stroke: ink,
        font: FONT,
        size: AXIS_WIDTH,
        grid,
        ticks: { show: false },
        splits: () => ticks.map((tick) => heightOf(tick, log)),
        values: () => ticks.map((tick, i) => `${formatCompact(tick)}${i === ticks.length - 1 ? unit : ''}`),
      },
    ],
    series: [
      {},
      ...(isBars ? data.series.toReversed() : data.series).map(
        ({ label, tone, line }): uPlot.Series => ({
          label,
          stroke: toneFill(tone),
          width: isBars ? 0 : 2,
          ...(isBars ? { fill: toneFill(tone) } : {}),
          ...(line === undefined ? {} : { dash: DASHES[line] }),
          ...(paths ? { paths } : {}),
          // A value between two gaps has no line segment: only its point is visible.
          points: { show: !isBars, size: 4, fill: toneFill(tone) },
        }),
      ),
    ],
  };
}
