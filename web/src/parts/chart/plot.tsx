import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { type ChartData, formatTick, stack, tokenColor, toneFill } from './series.ts';

const HEIGHT = 200;
const FONT = '11px "Hanken Grotesk", system-ui, sans-serif';
const SIZES = { hour: 3600, day: 86_400 } as const;
/** Steps of the vertical axis: whole numbers. */
const STEPS = [1, 2, 5].flatMap((n) => Array.from({ length: 9 }, (_, power) => n * 10 ** power)).sort((a, b) => a - b);
const number = new Intl.NumberFormat('en', { notation: 'compact' });

/** The canvas only; Chart adds the summary and the table. `onPoint` gets the index of the hovered bucket. */
export function Plot({ data, onPoint }: { data: ChartData; onPoint: (index: number | null) => void }) {
  const place = useRef<HTMLDivElement>(null);
  const dark = useComputedColorScheme('light') === 'dark';
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const size = () => ({ width: Math.max(element.clientWidth, 120), height: HEIGHT });
    const plot = new uPlot({ ...options(data, onPoint), ...size() }, columns(data), element);
    const observer = new ResizeObserver(() => plot.setSize(size()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [data, dark, onPoint]);
  return <div ref={place} style={{ minHeight: HEIGHT }} aria-hidden />;
}

const times = ({ at }: ChartData): number[] => at.map((iso) => Date.parse(iso) / 1000);

/** Stacked bars are drawn from the largest sum to the smallest, each covering the lower part of the one before. */
function columns(data: ChartData): uPlot.AlignedData {
  if (data.shape === 'bars') return [times(data), ...stack(data.series).toReversed()];
  return [times(data), ...data.series.map(({ values }) => [...values])];
}

function options(data: ChartData, onPoint: (index: number | null) => void): Omit<uPlot.Options, 'width' | 'height'> {
  const ink = tokenColor('--ink-3');
  const grid = { stroke: tokenColor('--line'), width: 1 };
  const half = SIZES[data.bucket] / 2;
  const isBars = data.shape === 'bars';
  const paths = isBars ? uPlot.paths.bars?.({ size: [0.8, 40] }) : undefined;
  return {
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !isBars } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: {
      x: { range: (_, from, to) => [(from ?? 0) - half, (to ?? 0) + half] },
      y: { range: (_, __, top) => [0, Math.max((top ?? 0) * 1.1, 4)] },
    },
    axes: [
      { stroke: ink, font: FONT, grid, ticks: grid, space: 60, values: (_, splits) => splits.map(formatTick) },
      {
        stroke: ink,
        font: FONT,
        grid,
        ticks: grid,
        incrs: STEPS,
        size: 52,
        values: (_, splits) => splits.map((n) => number.format(n)),
      },
    ],
    series: [
      {},
      ...(isBars ? data.series.toReversed() : data.series).map(
        ({ label, tone, broken = false }): uPlot.Series => ({
          label,
          stroke: toneFill(tone),
          width: isBars ? 0 : 2,
          ...(isBars ? { fill: toneFill(tone) } : {}),
          ...(broken ? { dash: [6, 4] } : {}),
          ...(paths ? { paths } : {}),
          // A value between two gaps has no line segment: only its point is visible.
          points: { show: !isBars, size: 4, fill: toneFill(tone) },
        }),
      ),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}
