import type { Options } from '../config/read.ts';
import type { VerificationEngine } from '../engine/create.ts';
import { TRUST_STATES, type TrustState } from '../engine/dns/trust.ts';
import { ageInDays } from '../engine/doctor/service.ts';
import { EGRESS_CONDITIONS } from '../engine/smtp/egress.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Clock } from '../kernel/clock.ts';
import type { MailLimits } from '../service/mail-limits.ts';
import type { Store } from '../store/store.ts';
import type { Closers } from './closers.ts';
import { explainListening } from './listen.ts';

/** Null if neither a token nor a port is set. The library is loaded only if needed, because it slows the start. */
export async function openMetrics(options: Options, closers: Closers): Promise<Metrics | null> {
  const { metricsToken, metricsPort: port, host } = options;
  if (metricsToken === null && port === null) return null;
  const { createMetrics, listenForMetrics } = await import('../http/metrics.ts');
  const metrics = createMetrics();
  if (port === null) return metrics;
  const server = await explainListening({ host, port, option: 'MAILVET_METRICS_PORT' }, () =>
    listenForMetrics(metrics, host, port),
  );
  closers.add('metrics port', 1000, () => {
    server.closeAllConnections();
    server.close();
  });
  return metrics;
}

interface Observed {
  readonly verify: { readonly running: number };
  readonly mailLimits: Pick<MailLimits, 'withheld'>;
  readonly store: Store;
  readonly engine: VerificationEngine;
  readonly clock: Clock;
}

/** Registers gauges that are read at each scrape. */
export function observe(metrics: Metrics, { verify, mailLimits, store, engine, clock }: Observed): void {
  metrics.gauge('mailvet_verifications_running', 'Checks waiting for DNS or a mail server.', () => verify.running);
  metrics.gauge('mailvet_charge_queue', 'Requests waiting for a transaction.', () => store.charging.waiting);
  const { stats } = store.charging;
  metrics.counterBy(
    'mailvet_charge_unanswered_total',
    'Requests that waited too long for the store, or whose client had gone before they were charged.',
    ['reason'],
    () => [
      { labels: { reason: 'expired' }, count: stats.expired },
      { labels: { reason: 'client_gone' }, count: stats.dropped },
    ],
  );
  metrics.counterBy('mailvet_charge_set_aside_total', 'Waits for accounts that another session had locked.', [], () => [
    { labels: {}, count: stats.setAside },
  ]);
  metrics.gauge('mailvet_lists_age_days', 'Age of the disposable list.', () =>
    ageInDays(engine.lists().version, clock.now()),
  );
  metrics.gaugeBy('mailvet_dns_servers', 'DNS servers by what control queries have shown.', 'state', () => {
    const { servers } = engine.resolver.health();
    const count = (state: TrustState) => servers.filter(({ trust }) => trust === state).length;
    return Object.fromEntries(TRUST_STATES.map((state) => [state, count(state)]));
  });
  const labels = ['kind', 'reason'] as const;
  metrics.counterBy('mailvet_mails_withheld_total', 'Mails that were not sent.', labels, mailLimits.withheld);
  observeSmtp(metrics, engine);
}

/** Kinds of unmatched replies with a counter of their own. */
const UNMATCHED_KINDS_MAX = 100;

function observeSmtp(metrics: Metrics, engine: VerificationEngine): void {
  const { unmatched } = engine;
  metrics.gaugeBy('mailvet_asker_state', 'Connectivity to mail servers: 1 for the current state.', 'state', () => {
    const state = engine.egressHealth()?.state ?? 'no_helo_name';
    return Object.fromEntries([...EGRESS_CONDITIONS, 'no_helo_name'].map((name) => [name, name === state ? 1 : 0]));
  });
  metrics.gauge('mailvet_smtp_dialogues_open', 'Dialogues with mail servers.', () => engine.mailboxStats()?.open ?? 0);
  metrics.gauge(
    'mailvet_smtp_checks_waiting',
    'Mailbox checks that wait for their turn at a mail server.',
    () => engine.mailboxStats()?.waiting ?? 0,
  );
  metrics.gauge(
    'mailvet_smtp_breakers_open',
    'Open circuit breakers: operators that reject our IP address.',
    () => engine.mailboxStats()?.breakersOpen ?? 0,
  );
  metrics.counterBy('mailvet_smtp_unmatched_replies_total', 'Replies that no rule matched.', [], () => [
    { labels: {}, count: unmatched.total },
  ]);
  const labels = ['fingerprint', 'code'] as const;
  metrics.counterBy('mailvet_smtp_unmatched_kinds_total', 'The most frequent unmatched replies, by kind.', labels, () =>
    unmatched
      .list()
      .slice(0, UNMATCHED_KINDS_MAX)
      .map(({ fingerprint, code, count }) => ({ labels: { fingerprint, code }, count })),
  );
}
