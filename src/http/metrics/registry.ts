import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { LASTING_ALERT_TYPES } from '../../kernel/facts/alerts.ts';
import { keysOf } from '../../kernel/facts/keys-of.ts';

// The metrics of `/metrics`. Registration, sources and docs/metrics.md all follow this table.

interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** A metric of the store is the same on every node; by default, each process has its own. */
  readonly of?: 'store';
  /** Of a counter: it is read at each scrape, as gauges are. Others are counted when something happens. */
  readonly isRead?: true;
  /** Meaning of the values by label; every label has a bounded number of them. */
  readonly labels: Readonly<Record<string, string>>;
  /** The value has this unit: a base unit (seconds, ratio), or what is counted. */
  readonly unit: string;
  readonly help: string;
  /** The text says when to look at the metric. */
  readonly look: string;
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;
/** Up to the most that one transaction takes. */
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256] as const;

const EGRESS = 'name of the [egress](egress.md)';
const OPERATOR_LABEL =
  'name of a known provider in the list of mail hosts, at most 50, the most active; `other`: all others together';

const METRICS = {
  mailvet_build_info: {
    type: 'gauge',
    labels: {
      version: 'of this program',
      commit: 'of the sources it was built from, or `unknown`',
      node: 'version of Node',
      store: '`sqlite` or `postgres`',
    },
    unit: 'always 1',
    help: 'What runs here.',
    look: 'To see which nodes have an upgrade, and to mark upgrades in charts.',
  },

  mailvet_ready: {
    type: 'gauge',
    labels: { check: '`store`, `resolver` or `clock`: the [checks](operating.md#health) of `/readyz`' },
    unit: '1 or 0',
    help: 'Whether the check passes; 0 also where it takes longer than a second.',
    look: 'Alert on 0: requests that need it get 503.',
  },

  mailvet_http_requests_total: {
    type: 'counter',
    labels: { method: 'of the request', route: 'as in the table of routes', status: 'of the reply' },
    unit: 'requests',
    help: 'Requests answered.',
    look: 'Alert on a rising rate of 5xx.',
  },
  mailvet_http_request_seconds: {
    type: 'histogram',
    labels: { route: 'as in the table of routes' },
    unit: 'seconds',
    buckets: LATENCY_SECONDS,
    help: 'Time from the request to its reply.',
    look: 'When clients report slow replies; compare with the time that verdicts take.',
  },

  mailvet_verifications_total: {
    type: 'counter',
    labels: {
      status: 'of the verdict',
      reason: '[of the verdict](verdicts.md), `none` for null',
      level: 'at which it was decided',
    },
    unit: 'verdicts',
    help: 'Verdicts recorded, of single calls and lists.',
    look: 'Alert on a rising share of `smtp_blocked` or `smtp_unreachable`: mail servers reject you.',
  },
  mailvet_verification_seconds: {
    type: 'histogram',
    labels: { level: 'at which it was decided' },
    unit: 'seconds',
    buckets: LATENCY_SECONDS,
    help: 'Time that the verdict of a single call took.',
    look: 'When replies are slow: DNS and mail servers take nearly all of it.',
  },
  mailvet_verifications_running: {
    type: 'gauge',
    labels: {},
    unit: 'checks',
    help: 'Checks waiting for DNS or a mail server.',
    look: 'If it keeps rising, the resolver or mail servers are slow. At 5,000, requests get 503 `overloaded`.',
  },

  mailvet_webhook_attempts_total: {
    type: 'counter',
    labels: { outcome: '`delivered` or `failed`' },
    unit: 'attempts',
    help: 'Attempts to deliver an event to a webhook.',
    look: 'When all fail, this process has no way out; else, the receivers of some accounts are down.',
  },

  mailvet_outcomes_total: {
    type: 'counter',
    labels: { class: 'what it is evidence of, such as `delivered`, `absent` or `sender`' },
    unit: 'outcomes',
    help: 'Outcomes of mail that accounts reported, each once; test mode does not count.',
    look: 'When `unclear` prevails, reports come without the words of the mail server.',
  },

  mailvet_outcome_contradictions_total: {
    type: 'counter',
    labels: {},
    unit: 'verdicts',
    help: 'Verdicts that the outcome of mail contradicts.',
    look: 'When it rises against `mailvet_outcomes_total`, replies of some mail server are misread.',
  },

  mailvet_charge_queue: {
    type: 'gauge',
    labels: {},
    unit: 'requests',
    help: 'Requests waiting for a transaction.',
    look: 'Alert above a few hundred: the store cannot keep up. At 5,000, requests get 503 `overloaded`.',
  },
  mailvet_charge_batch_size: {
    type: 'histogram',
    labels: {},
    unit: 'requests',
    buckets: BATCH_SIZES,
    help: 'Requests that shared a transaction.',
    look: 'With the queue: batches at 256 mean that the store is the bottleneck.',
  },
  mailvet_charge_batch_seconds: {
    type: 'histogram',
    labels: { result: '`committed` or `failed`' },
    unit: 'seconds',
    buckets: LATENCY_SECONDS,
    help: 'Time of a transaction for a batch, from when it is sent to the end of its commit, retries included.',
    look: 'When verdicts are slow although DNS is fast: the disk, or the way to the database.',
  },
  mailvet_charge_requests_total: {
    type: 'counter',
    isRead: true,
    labels: {
      result:
        '`answered` (refusals included), `failed` (the store could not record: 503), `overloaded` (the queue was full: 503)',
    },
    unit: 'requests',
    help: 'Admissions and settlements by how they ended.',
    look: 'Alert on any `failed` or `overloaded`.',
  },
  mailvet_charge_retries_total: {
    type: 'counter',
    isRead: true,
    labels: {
      cause:
        '`conflict` (serialization failure or deadlock), `locked` (another session has the account), `connection` (lost), `busy` (another process has the lock of the SQLite file)',
    },
    unit: 'attempts',
    help: 'Attempts to write a batch that had to be repeated.',
    look: 'When batches take long: `conflict` and `locked` rise when nodes charge the same accounts, `connection` when the network or the server fails.',
  },
  mailvet_charge_unanswered_total: {
    type: 'counter',
    isRead: true,
    labels: { reason: '`expired` (503 after 5 seconds), `client_gone`' },
    unit: 'requests',
    help: 'Requests that waited too long for the store, or whose client disconnected before they were charged.',
    look: 'Alert on any `expired`. Many `client_gone`: the timeout of clients is too short.',
  },
  mailvet_charge_set_aside_total: {
    type: 'counter',
    isRead: true,
    labels: {},
    unit: 'waits',
    help: 'Waits for accounts that another session had locked.',
    look: 'When one account is slow and others are not: look for a session that keeps its row locked.',
  },

  mailvet_store_pool_connections: {
    type: 'gauge',
    labels: { state: '`in_use`, `idle`' },
    unit: 'connections',
    help: 'Connections of the pool to PostgreSQL, without those for charging. Absent on SQLite.',
    look: 'With the next two, when the dashboard or jobs are slow.',
  },
  mailvet_store_pool_connections_max: {
    type: 'gauge',
    labels: {},
    unit: 'connections',
    help: 'Connections that the pool may have. Absent on SQLite.',
    look: 'To compare with those in use.',
  },
  mailvet_store_pool_waiting: {
    type: 'gauge',
    labels: {},
    unit: 'queries',
    help: 'Queries waiting for a connection of the pool. Absent on SQLite.',
    look: 'Alert if it stays above 0: queries are slow, or a session blocks them.',
  },

  mailvet_store_stats_up: {
    type: 'gauge',
    labels: {},
    unit: '1 or 0',
    help: 'Whether the store answered the query for the metrics of the store in time. If not, they are absent.',
    look: 'Alert on 0; and where an alert on one of them stays silent.',
  },
  mailvet_holds: {
    type: 'gauge',
    of: 'store',
    labels: {
      kind: '`verification`, or `shared` (one for many results)',
      age: '`under_1m`, `1m_to_10m`, `10m_to_1h`, `1h_to_1d`, `over_1d`',
    },
    unit: 'holds',
    help: 'Open holds of credits, by age.',
    look: 'Holds of verifications that get old: a node died and no other releases its holds, or stalls.',
  },
  mailvet_hold_oldest_seconds: {
    type: 'gauge',
    of: 'store',
    labels: { kind: 'as above' },
    unit: 'seconds',
    help: 'Age of the oldest open hold; absent without one.',
    look: 'Alert above 900 for `verification`.',
  },
  mailvet_purge_lag_seconds: {
    type: 'gauge',
    of: 'store',
    labels: {},
    unit: 'seconds',
    help: 'How long the oldest stored verification has been past its retention; 0 if none is.',
    look: 'Alert above 3600: no worker runs, the purge cannot keep up, or it is paused because a clock is wrong.',
  },
  mailvet_accounts_low_balance: {
    type: 'gauge',
    of: 'store',
    labels: {},
    unit: 'accounts',
    help: 'Active accounts whose balance is below the one at which they want a message; at most 20,000 are counted.',
    look: 'Alert above 0 where the accounts are your own: their requests will be rejected with `insufficient_credits`.',
  },
  mailvet_alerts: {
    type: 'gauge',
    of: 'store',
    labels: { type: LASTING_ALERT_TYPES.map((type) => `\`${type}\``).join(', ') },
    unit: 'causes',
    help: '[Alerts](alerts.md) of all accounts that were reported and are not over; at most 20,000 are counted.',
    look: 'When `smtp.unreachable` is above 0: run the doctor. For low balances, see `mailvet_accounts_low_balance`.',
  },
  mailvet_kept_list_bytes: {
    type: 'gauge',
    of: 'store',
    labels: {},
    unit: 'bytes',
    help: 'What the lists of all accounts take in the store, without their results; at most 20,000 lists are counted.',
    look: 'With the disk of the database: lists are kept for as long as verifications, and plans have a limit for each account.',
  },
  mailvet_kept_filters: {
    type: 'gauge',
    of: 'store',
    labels: {},
    unit: 'filters',
    help: 'Filters of all accounts; at most 20,000 accounts are counted.',
    look: 'Not alerted on: plans have a limit for each account.',
  },
  mailvet_jobs: {
    type: 'gauge',
    of: 'store',
    labels: {
      kind: 'of the job; `other`: kinds of other versions',
      state: '`waiting` (periodic jobs wait between rounds), `running`, `failed`',
    },
    unit: 'jobs',
    help: 'Background jobs.',
    look: 'Alert on `failed` (see `mailvet jobs`), and on waiting jobs that only rise: no worker runs.',
  },
  mailvet_mails_withheld_total: {
    type: 'counter',
    isRead: true,
    labels: {
      kind: 'of the mail',
      reason: '`recipient` (had [enough in a day](dashboard.md#mail-and-sign-up)), `account` (is suspended or deleted)',
    },
    unit: 'mails',
    help: 'Mails that were not sent.',
    look: 'When somebody misses a mail; a sudden rise shows abuse.',
  },

  mailvet_dns_servers: {
    type: 'gauge',
    labels: { state: '`unchecked`, `trusted`, `denies_every_name`, `answers_every_name`' },
    unit: 'servers',
    help: 'DNS servers by what control queries have shown.',
    look: 'Alert on any that denies or answers every name.',
  },
  mailvet_lists_age_days: {
    type: 'gauge',
    labels: {},
    unit: 'days',
    help: 'Age of the disposable list.',
    look: 'Alert above 30.',
  },

  mailvet_egress_state: {
    type: 'gauge',
    labels: { state: '[connectivity](doctor.md) of this host, or `no_helo_name`' },
    unit: '1 for the current state, else 0',
    help: 'Connectivity to mail servers: 1 for the current state.',
    look: 'Alert on `mailvet_egress_state{state="ok"} == 0`.',
  },
  mailvet_egress_reachable: {
    type: 'gauge',
    labels: { egress: EGRESS },
    unit: '1 or 0',
    help: 'Whether mail servers can be reached from an egress: 0 while it rests, its port is closed, or all refuse it.',
    look: 'Alert on 0: others take over its share, or its domains are not checked.',
  },
  mailvet_egress_blocked_ratio: {
    type: 'gauge',
    labels: { egress: EGRESS },
    unit: 'ratio',
    help: 'Share of the checks of the last hour in which the address of an egress was refused.',
    look: 'When it rises: `/readyz` says what would improve it most.',
  },
  mailvet_egress_deferred_ratio: {
    type: 'gauge',
    labels: { egress: EGRESS },
    unit: 'ratio',
    help: 'Share of the checks of the last hour that servers deferred for an egress.',
    look: 'When it is far above that of the others: servers are wary of it, or it is new to them.',
  },
  mailvet_egress_proxy_failed_ratio: {
    type: 'gauge',
    labels: { egress: EGRESS },
    unit: 'ratio',
    help: 'Share of the checks of the last hour in which the SOCKS server of an egress failed.',
    look: 'Above 0: see the log of the SOCKS server, its limits and the way to it.',
  },
  mailvet_egress_answer_seconds: {
    type: 'gauge',
    labels: { egress: EGRESS },
    unit: 'seconds',
    help: 'Mean time to an answer of the checks of the last hour from an egress.',
    look: 'When it is far above that of the others: the way to its SOCKS server is slow, or servers delay it.',
  },
  mailvet_smtp_dialogues_open: {
    type: 'gauge',
    labels: {},
    unit: 'dialogues',
    help: 'Dialogues with mail servers.',
    look: 'For capacity; 0 with many checks waiting means that breakers or rates hold them back.',
  },
  mailvet_smtp_checks_waiting: {
    type: 'gauge',
    labels: {},
    unit: 'checks',
    help: 'Mailbox checks that wait for their [turn](operating.md#pace) at a mail server.',
    look: 'If it keeps rising, there is more to check than mail servers may be asked; see the next ones for which.',
  },
  mailvet_smtp_pace_slices: {
    type: 'gauge',
    labels: {},
    unit: 'limits',
    help: 'Limits towards mail servers that this node shares with others [of its group](operating.md#several-nodes-behind-one-address), and uses now.',
    look: '0 under load: the node has the limits for itself, as on SQLite.',
  },
  mailvet_smtp_breakers_open: {
    type: 'gauge',
    labels: {},
    unit: 'operators',
    help: 'Operators that rejected our IP address and are not contacted.',
    look: 'Alert if it rises: check the reputation of the IP address with [doctor](doctor.md).',
  },
  mailvet_smtp_operator_breakers: {
    type: 'gauge',
    labels: { operator: OPERATOR_LABEL, state: '`open`, `half_open` (one dialogue at a time, as a trial)' },
    unit: 'breakers',
    help: 'Circuit breakers that are not closed; each egress address has one for each operator.',
    look: 'To see which operators reject you.',
  },
  mailvet_smtp_operator_pace_ratio: {
    type: 'gauge',
    labels: { operator: OPERATOR_LABEL },
    unit: 'ratio',
    help: 'Rate of dialogues with an operator relative to MAILVET_SMTP_RATE_PER_OPERATOR; the lowest of all egress addresses.',
    look: 'Below 1: the operator has asked us to slow down. It doubles after each minute without complaint.',
  },
  mailvet_smtp_operator_dialogues_open: {
    type: 'gauge',
    labels: { operator: OPERATOR_LABEL },
    unit: 'dialogues',
    help: 'Dialogues with an operator.',
    look: 'To see with whom checks spend their time.',
  },
  mailvet_smtp_operator_checks_waiting: {
    type: 'gauge',
    labels: { operator: OPERATOR_LABEL },
    unit: 'checks',
    help: 'Mailbox checks that wait for their turn at an operator.',
    look: 'To see which operator holds checks back.',
  },
  mailvet_smtp_uncertain_replies_total: {
    type: 'counter',
    isRead: true,
    labels: {
      rule: '[weak rule](classification.md#the-rules) that decided; `unmatched.4xx`, `unmatched.5xx`: none did',
    },
    unit: 'replies',
    help: 'Replies of mail servers that were read with low confidence.',
    look: 'If `unmatched.5xx` rises faster than verifications do, servers have new wordings: see `mailvet replies`.',
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

/** The metrics of `mailvet relay` stand apart: it is a program of its own. */
const RELAY_METRICS = {
  mailvet_relay_connections_total: {
    type: 'counter',
    isRead: true,
    labels: { outcome: '[how it ended](relay.md#log-and-metrics)' },
    unit: 'connections',
    help: 'Connections that have ended.',
    look: 'Alert on `busy`; `bad_token` and `blocked` show that somebody tries tokens, or that a client has an old one.',
  },
  mailvet_relay_connections: {
    type: 'gauge',
    labels: {
      state:
        '`handshake` (not signed in, or no destination yet), `dialogue`, `trunk` (carries dialogues, which count as such)',
    },
    unit: 'connections',
    help: 'Open connections of clients.',
    look: 'Many of `handshake`: somebody holds connections open.',
  },
  mailvet_relay_connections_max: {
    type: 'gauge',
    labels: {},
    unit: 'connections',
    help: 'What MAILVET_RELAY_MAX_CONNECTIONS allows, in each state.',
    look: 'To compare with those open.',
  },
  mailvet_relay_bytes_total: {
    type: 'counter',
    isRead: true,
    labels: { to: '`mail_server`, `client`' },
    unit: 'bytes',
    help: 'What was passed on, counted at the end of each connection.',
    look: 'Some kilobytes a connection; far more is no verification.',
  },
  mailvet_relay_certificate_expires_seconds: {
    type: 'gauge',
    labels: {},
    unit: 'seconds since 1970',
    help: 'When the certificate ends; absent without TLS.',
    look: 'Alert two weeks before: `mailvet_relay_certificate_expires_seconds - time() < 14 * 86400`.',
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

type RelayMetricName = keyof typeof RELAY_METRICS;
export const RELAY_METRIC_ROWS: Readonly<Record<RelayMetricName, MetricRow>> = RELAY_METRICS;
type RelayMetricSources = Readonly<Record<RelayMetricName, ReadValue>>;

type MetricName = keyof typeof METRICS;

export const METRIC_ROWS: Readonly<Record<MetricName, MetricRow>> = METRICS;

export const METRIC_NAMES = keysOf(METRICS);

function isReadMetric(name: MetricName): name is ReadMetric {
  const { type, isRead } = METRIC_ROWS[name];
  return type === 'gauge' || isRead === true;
}

/** The values of its labels. */
type LabelsOf<N extends MetricName> = Readonly<Record<keyof (typeof METRICS)[N]['labels'], string | number>>;

/** Metrics that are read at each scrape. */
type ReadMetric = {
  [N in MetricName]: (typeof METRICS)[N] extends { readonly type: 'gauge' } | { readonly isRead: true } ? N : never;
}[MetricName];
/** Metrics that are counted when something happens. */
type EventMetric = Exclude<MetricName, ReadMetric>;

/** One series of a metric has this value now. */
interface MetricSample<N extends MetricName> {
  readonly labels: LabelsOf<N>;
  readonly value: number;
}

/** How each metric that is read at a scrape is read. Without samples it is absent. Must not throw. */
export type MetricSources = {
  readonly [N in ReadMetric]: () => readonly MetricSample<N>[] | Promise<readonly MetricSample<N>[]>;
};

export interface Metrics {
  /** Returns the Prometheus text format. */
  text(): Promise<string>;
  /** Adds a value to a histogram, or 1 to a counter. */
  note<N extends EventMetric>(name: N, labels: LabelsOf<N>, value?: number): void;
  /** Registers the metrics that are read at each scrape; once. */
  observe(sources: MetricSources): void;
}

type Labels = Readonly<Record<string, string | number>>;
type ReadValue = () => readonly AnySample[] | Promise<readonly AnySample[]>;
interface AnySample {
  readonly labels: Labels;
  readonly value: number;
}

/** Makes the metrics of the table, and the usual ones of Node processes. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const events = new Map<MetricName, (labels: Labels, value: number) => void>();
  for (const name of METRIC_NAMES) if (!isReadMetric(name)) events.set(name, addEvents(name, registry));
  return {
    text: () => registry.metrics(),
    note: (name, labels, value = 1) => events.get(name)?.(labels, value),
    observe(sources) {
      for (const name of METRIC_NAMES)
        if (isReadMetric(name)) addReading(name, METRIC_ROWS[name], registry, sources[name]);
    },
  };
}

/** Makes the metrics of the relay's table, and the usual ones of Node processes. */
export function createRelayMetrics(sources: RelayMetricSources): Pick<Metrics, 'text'> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of keysOf(RELAY_METRICS)) addReading(name, RELAY_METRICS[name], registry, sources[name]);
  return { text: () => registry.metrics() };
}

const metricOptions = (name: string, { help, labels }: MetricRow, registry: Registry) => {
  // Links are for the page.
  const plain = help.replace(/\[(.*?)\]\(.*?\)/g, '$1');
  return { name, help: plain, labelNames: Object.keys(labels), registers: [registry] };
};

function addEvents(name: EventMetric, registry: Registry): (labels: Labels, value: number) => void {
  const { type, buckets = [] } = METRIC_ROWS[name];
  const options = metricOptions(name, METRIC_ROWS[name], registry);
  if (type === 'histogram') {
    const histogram = new Histogram({ ...options, buckets: [...buckets] });
    return (labels, value) => histogram.observe(labels, value);
  }
  const counter = new Counter(options);
  return (labels, value) => counter.inc(labels, value);
}

function addReading(name: string, row: MetricRow, registry: Registry, read: ReadValue): void {
  const Kind = row.type === 'counter' ? Counter : Gauge;
  new Kind({
    ...metricOptions(name, row, registry),
    async collect() {
      const samples = await read();
      this.reset();
      // Without labels there is one series, which would be 0.
      if (samples.length === 0 && Object.keys(row.labels).length === 0) this.remove();
      for (const { labels, value } of samples) this.inc(labels, value);
    },
  });
}
