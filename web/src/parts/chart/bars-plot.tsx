import { t } from '@lingui/core/macro';
import type uPlot from 'uplot';
import { type Bars, heightOf, SEGMENTS, type Segment, ticksOf } from './bars.ts';
import { AXIS_HEIGHT, bottomAxis, Canvas, valueAxis } from './plot-canvas.tsx';
import { formatTick, isMidnight, tokenColor } from './series.ts';

/** The canvas only: bars with the patterns of their verdicts. */
export function BarsPlot({ bars, log }: { bars: Bars; log: boolean }) {
  const unit = bars.bucket === 'day' ? t` a day` : t` an hour`;
  return <Canvas height={HEIGHT} data={bars} unit={unit} log={log} optionsOf={optionsOf} columnsOf={columnsOf} />;
}

const HEIGHT = 240;
/** Pixels for rejected requests below the line. They have a scale of their own. */
const BELOW = 22;

const columnsOf = ({ bars }: Bars): uPlot.AlignedData => [bars.map((_, i) => i), bars.map(({ total }) => total)];

function optionsOf({ bars, bucket }: Bars, unit: string, log: boolean): Omit<uPlot.Options, 'width' | 'height'> {
  const most = Math.max(...bars.map(({ total, before }) => Math.max(total, before ?? 0)), 1);
  const ticks = ticksOf(most, log);
  const top = heightOf(ticks.at(-1) ?? 1, log);
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
        ...bottomAxis(),
        splits: (plot) => labelled(bars, bucket, plot.bbox.width / devicePixelRatio),
        values: (_, splits) => splits.map((i) => labelOf(bars[i]?.at, i === bars.length - 1, bucket)),
      },
      valueAxis(ticks, unit, log),
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
