import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { SimpleGrid, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { LEVELS, type Level } from '../../../src/kernel/facts/plans.ts';
import { api, unwrap } from '../api/client.ts';
import type { Service } from '../api/schema.ts';
import { Chart } from '../parts/chart/chart.tsx';
import type { ChartData } from '../parts/chart/series.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { formatShare } from '../parts/delta.ts';
import { Figures } from '../parts/figures.tsx';
import { formatDateTime, formatMs, formatNumber } from '../parts/format.ts';
import { Glyph, type Outcome } from '../parts/glyph.tsx';
import { operatorName } from '../parts/operator-name.ts';
import { Page } from '../parts/page.tsx';
import { Pair, Panel } from '../parts/panel.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { OperatorOnly } from './operator/operator-only.tsx';
import { OPERATOR_KEY } from './operator/queries.ts';
import css from './overview/overview.module.css';

const EVERY_MS = 10_000;

export const ServicePage = () => (
  <OperatorOnly>
    <Status />
  </OperatorOnly>
);

/** How the service is, renewed every few seconds. */
function Status() {
  const query = useQuery({
    queryKey: [...OPERATOR_KEY, 'service'],
    queryFn: ({ signal }) => unwrap(api.GET('/dashboard/operator/service', { signal })),
    refetchInterval: EVERY_MS,
  });
  return (
    <Page
      title={t`Service`}
      about={t`All accounts together, in UTC. Queues and mail operators are those of the node that answers.`}
    >
      <QueryResult query={query}>
        {(service) => (
          <>
            <Totals service={service} />
            <LastDay hours={service.hours} />
            <Pair alike>
              <Panel title={t`Health`}>
                <Health service={service} />
              </Panel>
              <Panel
                title={t`Jobs and holds`}
                flush="table"
                actions={<Link to="/operator/jobs">{t`Failed jobs`}</Link>}
              >
                <Jobs service={service} />
              </Panel>
            </Pair>
            <Panel title={t`Nodes`} flush="table" note={t`one row for each process`}>
              <Nodes service={service} />
            </Panel>
            <Panel title={t`Mail operators`} flush="table" note={t`of this node`}>
              <Operators service={service} />
            </Panel>
          </>
        )}
      </QueryResult>
    </Page>
  );
}

function Totals({ service: { hours, latency, node, store } }: { service: Service }) {
  const sum = (value: (hour: Service['hours'][number]) => number) =>
    hours.reduce((total, hour) => total + value(hour), 0);
  const verifications = sum((hour) => hour.verifications);
  const rejected = sum((hour) => hour.rejected);
  const failed = store?.jobs.filter(({ state }) => state === 'failed').reduce((total, { count }) => total + count, 0);
  const p95 = latency.smtp?.p95 ?? latency.mx?.p95;
  return (
    <Figures
      label={t`Key figures`}
      items={[
        {
          label: t`Verifications, last day`,
          value: formatNumber(verifications),
          note: t`${formatNumber(hours.at(-1)?.verifications ?? 0)} in this hour so far`,
        },
        {
          label: t`Time to answer, ${latency.smtp === null ? 'mx' : 'smtp'}, p95`,
          value: p95 === undefined ? '–' : formatMs(p95),
        },
        {
          label: t`Rejected requests, last day`,
          value: formatNumber(rejected),
          note: t`${formatShare(rejected + verifications === 0 ? null : rejected / (rejected + verifications))} of all`,
        },
        {
          label: t`Waiting, this node`,
          value: formatNumber(node.checks_waiting + node.charges_waiting),
          note: t`${formatNumber(node.running)} running, ${plural(node.dialogues_open, { one: '# SMTP dialogue', other: '# SMTP dialogues' })} open`,
        },
        {
          label: t`Failed jobs`,
          value: failed === undefined ? '–' : formatNumber(failed),
          link: { to: '/operator/jobs' },
        },
      ]}
    />
  );
}

type EgressRow = Service['egress']['egresses'][number];

const EGRESS_STATES: Readonly<Record<string, string>> = {
  ok: t`Mail servers reached`,
  port_closed: t`Port 25 closed`,
  refused_everywhere: t`Refused by all mail servers`,
  resting: t`SOCKS server failing`,
};
const egressState = (state: string): string => EGRESS_STATES[state] ?? state;

/** None for the one that every host has. */
function egressRows(egresses: readonly EgressRow[]): (readonly [name: string, text: string, problem: boolean])[] {
  if (egresses.every(({ name }) => name === 'default')) return [];
  return egresses.map(({ name, state, last_day: day, breakers_open: breakers, identity, advice }) => {
    const sentences = [
      `${egressState(state)}.`,
      breakers > 0 && plural(breakers, { one: '# operator refuses it.', other: '# operators refuse it.' }),
      day.checks === 0 ? t`No check today.` : plural(day.checks, { one: '# check today.', other: '# checks today.' }),
      day.checks > 0 && t`${formatShare(day.blocked)} blocked, ${formatShare(day.deferred)} deferred.`,
      day.answer_ms !== null && t`${formatMs(day.answer_ms)} to an answer.`,
      identity !== null && `${identityText(identity)}.`,
      advice,
    ];
    return [t`Egress ${name}`, sentences.filter(Boolean).join(' '), advice !== null];
  });
}

const IDENTITY_LABELS = { helo: 'HELO', ptr: 'PTR', spf: 'SPF', blocklists: 'blocklists' } as const;
const RESULT_SIGNS = { pass: '✓', warn: '!', fail: '✕' } as const;

const identityText = (identity: NonNullable<EgressRow['identity']>): string =>
  keysOf(IDENTITY_LABELS)
    .map((check) => {
      const result = identity[check];
      return `${IDENTITY_LABELS[check]} ${result === null ? t`unknown` : RESULT_SIGNS[result]}`;
    })
    .join(', ');

interface HealthRow {
  readonly name: string;
  readonly text: string;
  /** Null: a fact that is neither. */
  readonly state: 'ok' | 'problem' | null;
}

const stated = (name: string, problem: string | null, fine: string): HealthRow => ({
  name,
  text: problem ?? fine,
  state: problem === null ? 'ok' : 'problem',
});

function healthRows({ node, problems, egress, lists }: Service): readonly HealthRow[] {
  const since = egress.since === null ? '' : t` since ${formatDateTime(egress.since)}`;
  const reached = `${egressState(egress.state)}${since}`;
  return [
    stated(t`Store`, problems.store, t`${node.store}, answers and accepts writes`),
    stated(
      t`Resolver`,
      problems.resolver,
      t`Answers; ${plural(node.dns_queries, { one: '# query', other: '# queries' })} under way, ${formatNumber(node.dns_cached)} answers cached`,
    ),
    stated(t`Mail servers`, egress.state === 'ok' ? null : reached, t`Reached${since}`),
    ...egressRows(egress.egresses).map(
      ([name, text, problem]): HealthRow => ({ name, text, state: problem ? 'problem' : 'ok' }),
    ),
    ...(problems.egress_file === null ? [] : [stated(t`Egress file`, problems.egress_file, '')]),
    stated(t`Clock`, problems.clock, t`Agrees with that of the store`),
    stated(
      t`Disposable lists`,
      problems.lists,
      t`${plural(lists.age_days, { one: '# day', other: '# days' })} old, ${formatNumber(lists.disposable_domains)} domains`,
    ),
    { name: t`Version`, text: node.version, state: null },
  ];
}

const STATE_FACTS = {
  ok: { label: 'OK', glyph: 'deliverable' },
  problem: { label: t`Problem`, glyph: 'undeliverable' },
} as const satisfies Record<NonNullable<HealthRow['state']>, { label: string; glyph: Outcome }>;

const Health = ({ service }: { service: Service }) => (
  <dl className="descriptions">
    {healthRows(service).map(({ name, text, state }) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd className="anywhere">
          {state !== null && (
            <>
              <Glyph of={STATE_FACTS[state].glyph} /> <VisuallyHidden>{STATE_FACTS[state].label}: </VisuallyHidden>
            </>
          )}
          {state === 'problem' ? <b>{text}</b> : text}
          {state === 'problem' && name === 'Mail servers' && (
            <>
              {'. '}
              <Link to="/operator/doctor">{t`Run the doctor`}</Link>
            </>
          )}
        </dd>
      </div>
    ))}
  </dl>
);

type Job = NonNullable<Service['store']>['jobs'][number];
const JOBS: readonly Column<Job>[] = [
  { header: t`Jobs`, cell: ({ kind }) => <span className="mono anywhere">{kind}</span> },
  { header: t`State`, cell: ({ state }) => <span className="mono">{state}</span> },
  { header: t`Number`, numeric: true, cell: ({ count }) => formatNumber(count) },
];

const secondsText = (seconds: number): string => plural(seconds, { one: '# second', other: '# seconds' });

function Jobs({ service: { store } }: { service: Service }) {
  if (store === null) return <p className={css.none}>{t`The store did not answer in time.`}</p>;
  return (
    <>
      {store.jobs.length > 0 && (
        <DataTable label={t`Jobs`} columns={JOBS} rows={store.jobs} rowKey={({ kind, state }) => `${kind} ${state}`} />
      )}
      <p className={css.none}>
        {plural(store.holds, { one: '# hold.', other: '# holds.' })}{' '}
        {store.oldest_hold_seconds !== null && t`The oldest hold: ${secondsText(store.oldest_hold_seconds)}.`}{' '}
        {store.purge_lag_seconds === 0
          ? t`Old rows are deleted on time.`
          : t`Old rows are deleted late, by ${secondsText(store.purge_lag_seconds)}.`}{' '}
        {plural(store.low_balances, {
          one: '# account below the low-balance threshold.',
          other: '# accounts below the low-balance threshold.',
        })}
      </p>
    </>
  );
}

type Node = Service['nodes'][number];
/** Three reports are missing. */
const SILENT_MS = 30_000;
const isSilent = (seen: string): boolean => Date.now() - Date.parse(seen) > SILENT_MS;

const NODES: readonly Column<Node>[] = [
  {
    header: t`Node`,
    cell: ({ id, label, answers }) => (
      <span title={id} className="anywhere">
        <span className="mono">{label}</span>
        {answers && t`, this one`}
      </span>
    ),
  },
  { header: t`Version`, cell: ({ version }) => version ?? t`unknown` },
  { header: t`Started`, folds: true, cell: ({ started_at }) => <Timestamp at={started_at} /> },
  {
    header: t`Last heartbeat`,
    cell: ({ seen_at }) =>
      seen_at === null ? (
        t`none yet`
      ) : isSilent(seen_at) ? (
        <b>
          <Trans>silent since {formatDateTime(seen_at)}</Trans>
        </b>
      ) : (
        formatDateTime(seen_at)
      ),
  },
];

const Nodes = ({ service: { nodes } }: { service: Service }) =>
  nodes.length === 0 ? (
    <p className={css.none}>{t`No process has reported yet. Each does within seconds of its start.`}</p>
  ) : (
    <DataTable label={t`Nodes`} columns={NODES} rows={nodes} rowKey={({ id }) => id} />
  );

type Operator = Service['operators'][number];
const OPERATORS: readonly Column<Operator>[] = [
  { header: t`Operator`, cell: ({ operator }) => operatorName(operator) },
  { header: t`Dialogues open`, numeric: true, cell: ({ dialogues_open }) => formatNumber(dialogues_open) },
  { header: t`Checks waiting`, numeric: true, folds: true, cell: ({ waiting }) => formatNumber(waiting) },
  {
    header: t`Breaker`,
    cell: ({ breakers_open, breakers_half_open }) =>
      breakers_open > 0 ? <b>{t`open`}</b> : breakers_half_open > 0 ? t`half open` : 'closed',
  },
  { header: t`Pace`, numeric: true, cell: ({ pace }) => formatShare(pace) },
];

const Operators = ({ service: { operators } }: { service: Service }) =>
  operators.length === 0 ? (
    <p className={css.none}>{t`This service is not set up to connect to mail servers.`}</p>
  ) : (
    <DataTable label={t`Mail operators`} columns={OPERATORS} rows={operators} rowKey={({ operator }) => operator} />
  );

type Hour = Service['hours'][number];

/** By hour, without results of lists. */
function LastDay({ hours }: { hours: readonly Hour[] }) {
  const charts = useMemo(() => chartsOf(hours), [hours]);
  const worst = (level: Level) => hours.reduce((most, { latency }) => Math.max(most, latency[level]?.p95 ?? 0), 0);
  const times = LEVELS.filter((level) => worst(level) > 0).map((level) => `${level} ${formatMs(worst(level))}`);
  const busiest = hours.reduce((most, { verifications }) => Math.max(most, verifications), 0);
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
      <Chart
        title={t`Requests an hour`}
        summary={
          busiest === 0
            ? t`No verification in the last day.`
            : t`At most ${plural(busiest, { one: '# verification', other: '# verifications' })} an hour; results of lists are not among them.`
        }
        data={charts.requests}
      />
      <Chart
        title={t`Time to answer, 95th percentile`}
        summary={times.length === 0 ? t`No data.` : t`The slowest hour: ${times.join(', ')}.`}
        unit={t` ms`}
        data={charts.times}
      />
    </SimpleGrid>
  );
}

function chartsOf(hours: readonly Hour[]): Record<'requests' | 'times', ChartData> {
  const at = hours.map((hour) => hour.at);
  return {
    requests: {
      at,
      bucket: 'hour',
      shape: 'bars',
      series: [
        { label: t`Verifications`, tone: 'first', values: hours.map(({ verifications }) => verifications) },
        { label: t`Rejected`, tone: 'rejected', values: hours.map(({ rejected }) => rejected) },
      ],
    },
    times: {
      at,
      bucket: 'hour',
      shape: 'lines',
      series: [
        { label: 'mx', tone: 'first', values: hours.map(({ latency }) => latency.mx?.p95 ?? null) },
        {
          label: 'smtp',
          tone: 'second',
          values: hours.map(({ latency }) => latency.smtp?.p95 ?? null),
          line: 'dashed',
        },
      ],
    },
  };
}
