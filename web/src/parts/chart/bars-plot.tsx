import { t } from '@lingui/core/macro';
import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { formatCompact } from '../format.ts';
import { type Bars, heightOf, SEGMENTS, type Segment, ticksOf } from './bars.ts';
import { AXIS_WIDTH } from './bucket-links.tsx';
import { formatTick, isMidnight, tokenColor } from './series.ts';

/** The canvas only: bars with the patterns of their verdicts. */
export function BarsPlot({ bars, log }: { bars: Bars; log: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const dark = useComputedColorScheme('light') === 'dark';
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const size = () => ({ width: Math.max(element.clientWidth, 120), height: HEIGHT });
    const data: uPlot.AlignedData = [bars.bars.map((_, i) => i), bars.bars.map(({ total }) => total)];
    const plot = new uPlot({ ...optionsOf(bars, log), ...size() }, data, element);
    const observer = new ResizeObserver(() => plot.setSize(size()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [bars, log, dark]);
  return <div ref={place} style={{ minHeight: HEIGHT }} aria-hidden />;
}

const HEIGHT = 240;
/** Pixels for rejected requests below the line. They have a scale of their own. */
const BELOW = 22;
const FONT = '11px "Hanken Grotesk", system-ui, sans-serif';
const AXIS_HEIGHT = 28;

function optionsOf({ bars, bucket }: Bars, log: boolean): Omit<uPlot.Options, 'width' | 'height'> {
  const most = Math.max(...bars.map(({ total, before }) => Math.max(total, before ?? 0)), 1);
  const ticks = ticksOf(most, log);
  const top = heightOf(ticks.at(-1) ?? 1, log);
  const per = bucket === 'day' ? t` a day` : t` an hour`;
  const ink = tokenColor('--ink-3');
  const grid = { stroke: tokenColor('--line'), width: 1 };
  const share = BELOW / (HEIGHT - AXIS_HEIGHT - BELOW - 8);
  return {
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 0, 0, 0],
    scales: {
      x: { time: false, range: () => [-0.5, bars.length - 0.5] },
      y: { range: () => [-top * share, top] },
    },
    axes: [
      {
        stroke: ink,
        font: FONT,
        size: AXIS_HEIGHT,
        grid: { show: false },
        ticks: { show: false },
        splits: (plot) => labelled(bars, bucket, plot.bbox.width / devicePixelRatio),
        values: (_, splits) => splits.map((i) => labelOf(bars[i]?.at, i === bars.length - 1, bucket)),
      },
      {
        side: 1,
        stroke: ink,
        font: FONT,
        size: AXIS_WIDTH,
        grid,
        ticks: { show: false },
        splits: () => ticks.map((tick) => heightOf(tick, log)),
        values: () => ticks.map((tick, i) => `${formatCompact(tick)}${i === ticks.length - 1 ? per : ''}`),
      },
    ],
    series: [{}, { paths: () => null, points: { show: false } }],
    hooks: { draw: [(plot) => drawBars(plot, bars, log)] },
  };
}

const LABEL_WIDTH = 72;
const DAY_HOURS = 24;

/**
 * Indexes of the bars with a label, at least LABEL_WIDTH apart, the last one always. Where hours are those of several
 * days, they are of midnight, which is labelled with its day.
 */
function labelled(bars: Bars['bars'], bucket: Bars['bucket'], width: number): number[] {
  const last = bars.length - 1;
  const apart = Math.max(1, Math.ceil((bars.length * LABEL_WIDTH) / Math.max(1, width)));
  if (bucket === 'day' || last < 2 * DAY_HOURS) return bars.flatMap((_, i) => ((last - i) % apart === 0 ? [i] : []));
  const step = Math.ceil(apart / DAY_HOURS) * DAY_HOURS;
  const first = bars.findIndex(({ at }) => isMidnight(at));
  const midnights = bars.flatMap((_, i) => (i >= first && (i - first) % step === 0 && last - i >= apart ? [i] : []));
  return [...midnights, last];
}

const isNow = (at: string, bucket: Bars['bucket']): boolean =>
  Date.now() - Date.parse(at) < (bucket === 'day' ? 86_400_000 : 3_600_000);

function labelOf(at: string | undefined, isLast: boolean, bucket: Bars['bucket']): string {
  if (at === undefined) return '';
  if (isLast && isNow(at, bucket)) return bucket === 'day' ? t`today so far` : 'now';
  return formatTick(Date.parse(at) / 1000, bucket);
}

function drawBars(plot: uPlot, bars: Bars['bars'], log: boolean): void {
  const { ctx, bbox } = plot;
  const dpr = devicePixelRatio;
  const y = (height: number) => plot.valToPos(height, 'y', true);
  const base = y(0);
  const column = bbox.width / bars.length;
  const wide = Math.min(column * 0.84, 40 * dpr);
  const narrow = Math.min(column * 0.62, 30 * dpr);
  const fills = patterns(ctx, dpr);
  const mostRejected = Math.max(1, ...bars.map(({ rejected }) => rejected));
  ctx.save();
  bars.forEach(({ total, segments, rejected, before }, i) => {
    const middle = bbox.left + (i + 0.5) * column;
    if (before !== null && before > 0) {
      const at = y(heightOf(before, log));
      ctx.fillStyle = tokenColor('--ghost');
      ctx.fillRect(middle - wide / 2, at, wide, base - at);
      ctx.fillStyle = tokenColor('--line-control');
      ctx.fillRect(middle - wide / 2, at, wide, dpr);
    }
    // Segments have their share of the bar, on either scale.
    const height = base - y(heightOf(total, log));
    let from = base;
    for (const segment of SEGMENTS) {
      const part = total === 0 ? 0 : (segments[segment] / total) * height;
      if (part === 0) continue;
      drawSegment(ctx, segment, fills[segment], [middle - narrow / 2, from - part, narrow, part], dpr);
      from -= part;
    }
    if (rejected > 0) {
      ctx.fillStyle = tokenColor('--v-rejected');
      const depth = Math.max(1, (rejected / mostRejected) * (BELOW - 4)) * dpr;
      ctx.fillRect(middle - narrow / 2, base + dpr, narrow, depth);
    }
  });
  ctx.fillStyle = tokenColor('--line-control');
  ctx.fillRect(bbox.left, base, bbox.width, dpr);
  ctx.restore();
}

type Box = readonly [x: number, y: number, width: number, height: number];
type Fill = CanvasPattern | string;

/** 1 px apart, unless there is no room for that. */
function drawSegment(ctx: CanvasRenderingContext2D, segment: Segment, fill: Fill, box: Box, dpr: number): void {
  const [x, y, width, height] = box;
  const gap = height > 3 * dpr ? dpr : 0;
  ctx.fillStyle = fill;
  ctx.fillRect(x, y + gap, width, height - gap);
  if (segment !== 'not_checked' && segment !== 'unknown') return;
  if (height <= 3 * dpr) return;
  ctx.strokeStyle = tokenColor('--v-unknown-ink');
  ctx.globalAlpha = 0.7;
  ctx.lineWidth = dpr;
  ctx.strokeRect(x + dpr / 2, y + gap + dpr / 2, width - dpr, height - gap - dpr);
  ctx.globalAlpha = 1;
}

/** Verdicts differ without color: risky is hatched, unknown is dotted, and not checked has an edge. */
function patterns(ctx: CanvasRenderingContext2D, dpr: number): Readonly<Record<Segment, Fill>> {
  const surface = tokenColor('--surface');
  const tile = (size: number, ground: string, draw: (on: CanvasRenderingContext2D, side: number) => void): Fill => {
    const canvas = document.createElement('canvas');
    const side = Math.round(size * dpr);
    canvas.width = side;
    canvas.height = side;
    const on = canvas.getContext('2d');
    if (on === null) return ground;
    on.fillStyle = ground;
    on.fillRect(0, 0, side, side);
    draw(on, side);
    return ctx.createPattern(canvas, 'repeat') ?? ground;
  };
  return {
    deliverable: tokenColor('--v-deliverable'),
    not_checked: tokenColor('--v-unknown'),
    unknown: tile(4, surface, (on, side) => {
      on.fillStyle = tokenColor('--v-unknown-ink');
      on.fillRect(0, 0, side / 2, side / 2);
    }),
    risky: tile(6, tokenColor('--v-risky'), (on, side) => {
      on.strokeStyle = surface;
      on.globalAlpha = 0.55;
      on.lineWidth = side / 3;
      for (const shift of [-side, 0, side]) {
        on.beginPath();
        on.moveTo(shift - 2, side + 2);
        on.lineTo(shift + side + 2, -2);
        on.stroke();
      }
    }),
    undeliverable: tokenColor('--v-undeliverable'),
  };
}
