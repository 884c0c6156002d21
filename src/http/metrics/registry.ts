import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import {
  type EventMetric,
  isReadMetric,
  type LabelsOf,
  METRIC_NAMES,
  METRIC_ROWS,
  type MetricName,
  type ReadMetric,
} from './table.ts';

/** One series of a metric, and its value now. */
interface Sample<N extends MetricName> {
  readonly labels: LabelsOf<N>;
  readonly value: number;
}

/** How each metric that is read at a scrape is read. Without samples it is absent. Must not throw. */
export type MetricSources = {
  readonly [N in ReadMetric]: () => readonly Sample<N>[] | Promise<readonly Sample<N>[]>;
};

export interface Metrics {
  /** In the Prometheus text format. */
  text(): Promise<string>;
  /** Adds a value to a histogram, or 1 to a counter. */
  note<N extends EventMetric>(name: N, labels: LabelsOf<N>, value?: number): void;
  /** Registers the metrics that are read at each scrape; once. */
  observe(sources: MetricSources): void;
}

type Labels = Readonly<Record<string, string | number>>;
type Read = () => readonly AnySample[] | Promise<readonly AnySample[]>;
interface AnySample {
  readonly labels: Labels;
  readonly value: number;
}

/** The metrics of the table, and the usual ones of Node processes. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const events = new Map<MetricName, (labels: Labels, value: number) => void>();
  for (const name of METRIC_NAMES) if (!isReadMetric(name)) events.set(name, addEvents(name, registry));
  return {
    text: () => registry.metrics(),
    note: (name, labels, value = 1) => events.get(name)?.(labels, value),
    observe(sources) {
      for (const name of METRIC_NAMES) if (isReadMetric(name)) addReading(name, registry, sources[name]);
    },
  };
}

const optionsOf = (name: MetricName, registry: Registry) => {
  const { help, labels } = METRIC_ROWS[name];
  // Links are for the page.
  const plain = help.replace(/\[(.*?)\]\(.*?\)/g, '$1');
  return { name, help: plain, labelNames: Object.keys(labels), registers: [registry] };
};

function addEvents(name: EventMetric, registry: Registry): (labels: Labels, value: number) => void {
  const { type, buckets = [] } = METRIC_ROWS[name];
  const options = optionsOf(name, registry);
  if (type === 'histogram') {
    const histogram = new Histogram({ ...options, buckets: [...buckets] });
    return (labels, value) => histogram.observe(labels, value);
  }
  const counter = new Counter(options);
  return (labels, value) => counter.inc(labels, value);
}

function addReading(name: ReadMetric, registry: Registry, read: Read): void {
  const Kind = METRIC_ROWS[name].type === 'counter' ? Counter : Gauge;
  new Kind({
    ...optionsOf(name, registry),
    async collect() {
      const samples = await read();
      this.reset();
      // Without labels there is one series, which would be 0.
      if (samples.length === 0 && Object.keys(METRIC_ROWS[name].labels).length === 0) this.remove();
      for (const { labels, value } of samples) this.inc(labels, value);
    },
  });
}
