import uPlot from 'uplot';
import { heightOf, ticksOf } from './bars.ts';
import { bottomAxis, Canvas, valueAxis } from './plot-canvas.tsx';
import { type ChartData, formatTick, type Series, stack, toneFill } from './series.ts';

/** Chart adds the summary, the links and the table. */
export const Plot = (props: { data: ChartData; unit: string; log: boolean }) => (
  <Canvas height={200} {...props} optionsOf={options} columnsOf={columns} />
);

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
        ...bottomAxis(),
        space: 60,
        values: (_, splits) => splits.map((seconds) => formatTick(seconds, data.bucket)),
      },
      valueAxis(ticks, unit, log),
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
