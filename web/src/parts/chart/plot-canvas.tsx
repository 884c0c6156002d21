import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { formatCompact } from '../format.ts';
import { heightOf } from './bars.ts';
import { AXIS_WIDTH } from './bucket-links.tsx';
import { tokenColor } from './series.ts';

export const AXIS_HEIGHT = 28;
const FONT = '11px "Hanken Grotesk", system-ui, sans-serif';

/**
 * The canvas only, as wide as its place. `unit`: beside the top of the vertical axis. The functions are those of a
 * module: with others, it is drawn again.
 */
export function Canvas<Data>(props: {
  height: number;
  data: Data;
  unit: string;
  log: boolean;
  optionsOf: (data: Data, unit: string, log: boolean) => Omit<uPlot.Options, 'width' | 'height'>;
  columnsOf: (data: Data, log: boolean) => uPlot.AlignedData;
}) {
  const { height, data, unit, log, optionsOf, columnsOf } = props;
  const place = useRef<HTMLDivElement>(null);
  const dark = useComputedColorScheme('light') === 'dark';
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const size = () => ({ width: Math.max(element.clientWidth, 120), height });
    const plot = new uPlot({ ...optionsOf(data, unit, log), ...size() }, columnsOf(data, log), element);
    const observer = new ResizeObserver(() => plot.setSize(size()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [height, data, unit, log, dark, optionsOf, columnsOf]);
  return <div ref={place} style={{ minHeight: height }} aria-hidden />;
}

/** What the horizontal axes have in common. */
export const bottomAxis = () => ({
  stroke: tokenColor('--ink-3'),
  font: FONT,
  size: AXIS_HEIGHT,
  grid: { show: false },
  ticks: { show: false },
});

/** The vertical axis: at the right, with the unit at its top. */
export const valueAxis = (ticks: readonly number[], unit: string, log: boolean): uPlot.Axis => ({
  side: 1,
  stroke: tokenColor('--ink-3'),
  font: FONT,
  size: AXIS_WIDTH,
  grid: { stroke: tokenColor('--line'), width: 1 },
  ticks: { show: false },
  splits: () => ticks.map((tick) => heightOf(tick, log)),
  values: () => ticks.map((tick, i) => `${formatCompact(tick)}${i === ticks.length - 1 ? unit : ''}`),
});
