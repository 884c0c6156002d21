import type { Options } from '../config/read.ts';
import { intendedAddress } from '../engine/address/suggest.ts';
import type { VerificationEngine } from '../engine/create.ts';
import type { WatchedDomainData } from '../engine/data/domain-data.ts';
import { ageInDays } from '../engine/doctor/diagnose.ts';
import { createPost, isLoopback } from '../engine/http/post.ts';
import { createSns } from '../engine/http/sns.ts';
import { createDashboardLimiter, createFailedAuthLimiter, createOperatorLimiter } from '../http/access/limiters.ts';
import type { Health, HttpContext } from '../http/context.ts';
import { createWebFiles } from '../http/dashboard/web-files.ts';
import { callerIp } from '../http/exchange.ts';
import { createGuideFiles } from '../http/guide-files.ts';
import type { Metrics } from '../http/metrics/registry.ts';
import { startFlushing } from '../jobs/rounds.ts';
import type { Clock } from '../kernel/clock.ts';
import { DAY_MS, HOUR_MS, toIso, toIsoOrNull } from '../kernel/clock.ts';
import { CONNECTIONS_MAX } from '../kernel/facts/limits.ts';
import { ipMatcher } from '../kernel/ip.ts';
import { type Logger, shownAddress } from '../kernel/log.ts';
import { VERSION } from '../kernel/version.ts';
import { createAdmissionService } from '../service/admission.ts';
import { createAlertService } from '../service/alerts.ts';
import { Costs } from '../service/costs.ts';
import { createDashboard } from '../service/dashboard.ts';
import { createListsUpdate, type ListsUpdate } from '../service/disposable-lists-update.ts';
import type { Identities } from '../service/doctor.ts';
import { createFilterService } from '../service/filters.ts';
import { firstUserCommand } from '../service/first-account.ts';
import { createHookService } from '../service/hooks.ts';
import { createHostLearning, type HostLearning } from '../service/host-learning.ts';
import { createOutcomeMemory, type OutcomeMemory } from '../service/learned.ts';
import { createListService } from '../service/lists/service.ts';
import { createMail, type Mail } from '../service/mail.ts';
import { createMailLimits, type MailLimits } from '../service/mail-limits.ts';
import { createMemberActivity, type MemberActivity } from '../service/members.ts';
import { createOutcomeSourceService } from '../service/outcome-sources.ts';
import { createOutcomeService, createTestOutcomeReports, type TestOutcomeReports } from '../service/outcomes.ts';
import { createPolicyService } from '../service/policies.ts';
import { createPrivacyService } from '../service/privacy.ts';
import { createRejectedRequestLog } from '../service/rejected-requests.ts';
import { uncertainFlush } from '../service/replies.ts';
import { createSharedLists, type SharedLists } from '../service/shared-lists.ts';
import { deliverabilityCheck } from '../service/sign-in/deliverability.ts';
import { createOidcProvider, type OidcProvider, type OidcSettings } from '../service/sign-in/oidc-provider.ts';
import { createSignIn } from '../service/sign-in/service.ts';
import type { WatchedClock } from '../service/store-clock.ts';
import {
  addCount,
  createTrafficCounter,
  type LatencyCounts,
  percentiles,
  type TrafficCounter,
} from '../service/traffic.ts';
import { usageOf } from '../service/usage.ts';
import { createSeenService, createVerifyService, type VerifyService } from '../service/verify.ts';
import { createSend, createWebhookDelivery, type DeliverWebhook, disabledMail } from '../service/webhooks/deliver.ts';
import { createUrlCheck, createWebhookService } from '../service/webhooks/webhooks.ts';
import type { AddressHasher, Store, TrafficRow } from '../store/store.ts';
import { GUIDE_FOLDERS } from './built-files.ts';
import type { Closers } from './closers.ts';
import { dnsForLearning } from './dns-for-learning.ts';
import type { EgressFile } from './egress-reload.ts';
import { createHealth, egressRows } from './health.ts';
import type { LiveOptions } from './live-options.ts';
import { countVerdict } from './metrics.ts';
import { onceAtATime, sharedFor, withinMs } from './shared-check.ts';

/** How many verifications may wait for DNS or a mail server. */
const MAX_RUNNING = 5000;

interface ServiceParts {
  readonly options: Options;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly storeClock: WatchedClock;
  readonly webFolders: readonly string[];
  readonly dashboardPerWindow: number;
  readonly store: Store;
  /** Null: addresses are kept. */
  readonly keepAs: AddressHasher | null;
  readonly engine: VerificationEngine;
  readonly lists: WatchedDomainData;
  readonly metrics: Metrics | null;
  readonly closers: Closers;
  readonly egressFile: EgressFile;
  readonly live: LiveOptions;
  readonly identities: Identities;
  /** The public URL of the service has no trailing slash. */
  readonly url: () => string;
  readonly draining: () => boolean;
}

interface Services {
  readonly context: HttpContext;
  readonly mail: Mail | null;
  readonly mailLimits: MailLimits;
  readonly listsUpdate: ListsUpdate;
  readonly deliverWebhook: DeliverWebhook;
  readonly sharedLists: SharedLists;
  readonly hostLearning: HostLearning;
  readonly outcomeMemory: OutcomeMemory;
  /** Null if it is not configured. */
  readonly oidc: { readonly settings: OidcSettings; readonly provider: OidcProvider } | null;
}

function oidcOf({ options, live, engine, clock, url }: ServiceParts): Services['oidc'] {
  const { oidcIssuer: issuer, oidcClientId: clientId } = options;
  if (issuer === null || clientId === null) return null;
  const settings: OidcSettings = {
    issuer,
    clientId,
    get clientSecret() {
      return live.current.oidcClientSecret;
    },
    name: options.oidcName,
    scopes: options.oidcScopes,
    allowedDomains: options.oidcAllowedDomains,
    account: options.oidcAccount,
    role: options.oidcRole,
    roleClaim: options.oidcRoleClaim,
    roleMap: options.oidcRoleMap ?? [],
    secondFactor: options.oidcSecondFactor ?? [],
    only: options.oidcOnly,
  };
  const post = createPost({ ...engine, loopback: isLoopback(new URL(issuer)) });
  return {
    settings,
    provider: createOidcProvider({ settings, post, clock, redirectUri: () => `${url()}/sign-in/oidc` }),
  };
}

/** The service of outcomes, which counts what it records. */
function outcomesOf({ store, storeClock: clock, engine, metrics }: ServiceParts, memory: OutcomeMemory) {
  return createOutcomeService({
    store,
    clock,
    memory,
    domainData: engine.domainData,
    onRecorded(classes, contradictions) {
      for (const one of classes) metrics?.note('mailvet_outcomes_total', { class: one });
      if (contradictions > 0) metrics?.note('mailvet_outcome_contradictions_total', {}, contradictions);
    },
  });
}

function signInService(
  { options, store, storeClock: clock, logger, url, engine }: ServiceParts,
  mailing: Pick<Parameters<typeof createSignIn>[0], 'mail' | 'mailLimits' | 'oidc'>,
) {
  return createSignIn({
    store,
    clock,
    logger,
    url,
    ...mailing,
    secret: options.authSecret,
    signup: options.signup === 'open' ? { credits: options.signupCredits } : null,
    checkDeliverability: deliverabilityCheck(engine),
  });
}

/** Counts the attempts at deliveries. */
const webhookDelivery = (
  { store, storeClock: clock, metrics }: ServiceParts,
  how: Pick<Parameters<typeof createWebhookDelivery>[0], 'send' | 'mailTo'>,
) =>
  createWebhookDelivery({
    webhooks: store.webhooks,
    clock,
    ...how,
    onAttempt: (isDelivered) =>
      metrics?.note('mailvet_webhook_attempts_total', { outcome: isDelivered ? 'delivered' : 'failed' }),
  });

/** What handlers get as it is: files, options, and how the service is doing. */
function surroundings({ options, logger, closers, url, draining, webFolders, egressFile }: ServiceParts) {
  return {
    compat: options.compat,
    webFiles: createWebFiles(webFolders),
    guideFiles: createGuideFiles(GUIDE_FOLDERS),
    draining,
    closing: () => closers.closing,
    logger,
    publicUrl: options.publicUrl,
    setupCommand: options.testOnly ? null : firstUserCommand(options.command),
    logsClientIp: options.logClientIp,
    securityContact: options.securityContact,
    url,
    answersRequests: options.role !== 'worker',
    egressNames: () => egressFile.egresses.map(({ name }) => name),
  };
}

/** What is said of an address or domain by the data alone. */
const withoutVerifying = ({ domainData }: VerificationEngine) => ({
  didYouMean: (email: string) => intendedAddress(email, domainData()),
  isDisposable: (domain: string) => domainData().disposable(domain).verdict === 'disposable',
});

const dashboardOf = (
  { options, egressFile, store, storeClock: clock, lists, url }: ServiceParts,
  own: Omit<Parameters<typeof createDashboard>[0], 'options' | 'store' | 'clock' | 'lists' | 'url'>,
) =>
  createDashboard({
    ...own,
    store,
    clock,
    lists,
    url,
    options: { ...options, egresses: () => egressFile.egresses },
  });

/** Makes the dependencies of the HTTP handlers, and those they share with jobs. */
export function createServices(parts: ServiceParts): Services {
  // Services compare stored times, or write them: those are the store's, whatever this host's clock says.
  const { options, logger, storeClock: clock, store, engine, lists, metrics, url } = parts;
  const mail = mailOf(parts);
  const mailLimits = createMailLimits({ store, logger });
  const oidc = oidcOf(parts);
  const signIn = signInService(parts, { mail, mailLimits, oidc });
  const post = createPost(engine);
  const send = createSend(post, clock, url);
  const webhookMail = disabledMail(mail !== null, url);
  const sharedLists = createSharedLists({ store, lists, dir: options.listsDir });
  const hostLearning = createHostLearning({ store, lists, openDns: dnsForLearning(options, parts.clock) });
  const listsUpdate = createListsUpdate({ jobs: store.jobs, clock, shared: sharedLists, options });
  const traffic = createTrafficCounter(store.traffic, clock);
  const rejected = createRejectedRequestLog(store.rejectedRequests);
  const memory = createOutcomeMemory(store, clock);
  const outcomes = outcomesOf(parts, memory);
  const testOutcomes = createTestOutcomeReports(outcomes, clock);
  const verify = verifyService(parts, { traffic, memory, testOutcomes });
  const policies = createPolicyService(store);
  const hooks = createHookService({ store, policies, verify, clock, remembersMailboxes: options.seenDays > 0 });
  const sns = createSns({ post, clock, laboratory: engine.allowPrivate });
  const outcomeSources = createOutcomeSourceService(store, sns);
  const activity = createMemberActivity(store.members, clock);
  flushOften(parts, { traffic, rejected, signIn, hooks, testOutcomes, activity });
  const health = createHealth({ ...parts, looksUp: !options.testOnly });
  const singleCalls = () => verify.calls;
  const costs = new Costs(clock, singleCalls);
  const context: HttpContext = {
    costs,
    ...dashboardOf(parts, { listsUpdate, sharedLists, mailLimits, activity, mail: mail !== null, sessions: signIn }),
    signIn,
    clock,
    plans: store.plans,
    admission: createAdmissionService(store),
    usage: (caller, window, ask) => usageOf(store, clock, caller, window, ask),
    verify,
    seen: createSeenService(store),
    filters: createFilterService({ store, clock, costs, domainData: engine.domainData, singleCalls }),
    policies,
    privacy: createPrivacyService(store, { costs, clock }),
    outcomes,
    hooks,
    outcomeSources,
    webhooks: createWebhookService({ store, checkUrl: createUrlCheck(engine), send, clock, mailTo: webhookMail, url }),
    alerts: createAlertService({ store, mail: mail !== null }),
    lists: createListService({ store, clock, costs, policies, singleCalls }),
    ...withoutVerifying(engine),
    health,
    serviceStatus: createServiceStatus({ ...parts, clock, health, verify, retentionDays: options.retentionDays }),
    ...callerBounds(parts),
    metrics: metricsOf(parts),
    answered: replyCounter(metrics, traffic, rejected, clock),
    ...surroundings(parts),
  };
  return {
    context,
    mail,
    mailLimits,
    listsUpdate,
    sharedLists,
    hostLearning,
    deliverWebhook: webhookDelivery(parts, { send, mailTo: webhookMail }),
    outcomeMemory: memory,
    oidc,
  };
}

function mailOf({ options, live, url }: ServiceParts): Mail | null {
  const { mailUrl, mailFrom: from } = options;
  return mailUrl === null ? null : createMail({ server: () => live.current.mailUrl ?? mailUrl, from, url });
}

function metricsOf({ options, live, metrics }: ServiceParts): HttpContext['metrics'] {
  if (metrics === null || options.metricsToken === null) return null;
  return {
    get token() {
      return live.current.metricsToken;
    },
    text: metrics.text,
  };
}

/** What is counted in memory is written every few seconds, and once more at the end. */
function flushOften(
  { engine, store, logger, closers }: ServiceParts,
  counters: {
    readonly traffic: TrafficCounter;
    readonly rejected: ReturnType<typeof createRejectedRequestLog>;
    readonly signIn: ReturnType<typeof createSignIn>;
    readonly hooks: ReturnType<typeof createHookService>;
    readonly testOutcomes: TestOutcomeReports;
    readonly activity: MemberActivity;
  },
): void {
  const { traffic, rejected, signIn, hooks, testOutcomes, activity } = counters;
  const flushed = [
    { what: 'request counts', everyMs: 5_000, flush: traffic.flush },
    { what: 'rejected requests', everyMs: 1_000, flush: rejected.flush },
    { what: 'uncertain replies', everyMs: 10_000, flush: uncertainFlush(engine.uncertain, store) },
    { what: 'failed sign-ins', everyMs: 1_000, flush: signIn.failures.flush },
    { what: 'uses of hooks', everyMs: 5_000, flush: hooks.flush },
    { what: 'activity of members', everyMs: 10_000, flush: activity.flush },
    { what: 'outcomes of test mode', everyMs: 1_000, flush: testOutcomes.flush },
  ];
  for (const one of flushed) {
    const flushing = startFlushing(one, logger);
    closers.add(one.what, 2_000, () => flushing.stop());
  }
}

/** Who calls, and how much one of them may. */
const callerBounds = ({ options, storeClock, dashboardPerWindow }: ServiceParts) => ({
  callerIp: callerIp(options.trustedProxies),
  connections: {
    perNetwork: options.connectionsPerNetwork,
    ofRemoteHosts: CONNECTIONS_MAX,
    isProxy: ipMatcher(options.trustedProxies),
  },
  failedAuth: createFailedAuthLimiter(storeClock),
  dashboardLimiter: createDashboardLimiter(storeClock, dashboardPerWindow),
  operatorLimiter: createOperatorLimiter(storeClock),
});

/** Counts replies, and records what was rejected of an account. */
const replyCounter =
  (
    metrics: Metrics | null,
    traffic: TrafficCounter,
    rejected: ReturnType<typeof createRejectedRequestLog>,
    clock: Clock,
  ): HttpContext['answered'] =>
  (request) => {
    const { method, route, status, seconds, caller, error, answer } = request;
    // Errors and delays that test keys ask for are none of the service's.
    if (!caller?.test) {
      metrics?.note('mailvet_http_requests_total', { method, route, status });
      metrics?.note('mailvet_http_request_seconds', { route }, seconds);
    }
    // The contracts of some other services report errors with the status 200, and give answers another one.
    const rejectedWith = status >= 400 && answer === null ? status : error?.status;
    if (rejectedWith !== undefined && caller) {
      const { requestId, ip, via } = request;
      // Whoever called a hook got an answer.
      if (answer === null) traffic.refused(caller.accountId, rejectedWith);
      rejected.add({
        account: caller.accountId,
        at: clock.now(),
        requestId,
        keyId: caller.keyId,
        clientIp: ip,
        route: `${method} ${route}`,
        status: rejectedWith,
        code: error?.code ?? null,
        via,
        answer,
      });
    }
  };

function verifyService(
  { options, logger, store, keepAs, engine, metrics }: ServiceParts,
  {
    traffic,
    memory,
    testOutcomes,
  }: {
    readonly traffic: TrafficCounter;
    readonly memory: OutcomeMemory;
    readonly testOutcomes: TestOutcomeReports;
  },
): VerifyService {
  return createVerifyService({
    charging: store.charging,
    tools: engine,
    maxRunning: MAX_RUNNING,
    matchFilters: (account, keys) => store.filters.matchMany(account, keys),
    remembersMailboxes: options.seenDays > 0,
    outcomes: memory,
    keepAs,
    onVerdict(record, _evidence, caller) {
      const { id, email, status, reason, validationType: level, durationMs } = record;
      traffic.verified(caller.accountId, level, durationMs);
      if (caller.test) testOutcomes.verified(caller.accountId, record);
      else {
        countVerdict(metrics, record);
        metrics?.note('mailvet_verification_seconds', { level }, durationMs / 1000);
      }
      // Hashing the address costs more than logging, so skip it unless the line is written.
      if (!logger.isLevelEnabled('debug')) return;
      const address = shownAddress(email, options.logAddresses);
      logger.debug({ verification: id, email: address, status, reason }, 'verified');
    },
  });
}

// What operators see of the service: this process, and what the store tells of all of them.

/** A reading is used for so long, and a page waits for one for so long. */
const STATS_SHARED_MS = 10_000;
const STATS_TIMEOUT_MS = 1_000;
const HOURS_PER_DAY = DAY_MS / HOUR_MS;
/** The page shows those that started last. */
const NODES_SHOWN = 50;

interface StatusParts {
  readonly store: Store;
  readonly engine: VerificationEngine;
  readonly lists: WatchedDomainData;
  readonly health: Health;
  readonly verify: { readonly running: number };
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly egressFile: Pick<EgressFile, 'problem'>;
  readonly identities: Identities;
}

function createServiceStatus(parts: StatusParts) {
  const { store, engine, lists, health, verify, clock, retentionDays, egressFile, identities } = parts;
  const reading = sharedFor(
    STATS_SHARED_MS,
    onceAtATime(async () => {
      const since = (Math.floor(clock.now() / HOUR_MS) - HOURS_PER_DAY + 1) * HOUR_MS;
      const readings = store.stats.read(retentionDays * DAY_MS, STATS_TIMEOUT_MS);
      // The reason of a failure is in the log of what else the store then fails at.
      const nodes = store.nodes.list(NODES_SHOWN, STATS_TIMEOUT_MS);
      const all = Promise.all([readings, store.traffic.ofAll(since, STATS_TIMEOUT_MS), nodes]);
      return withinMs(STATS_TIMEOUT_MS, all).catch(() => null);
    }),
    clock,
  );
  return async () => {
    const [problem, resolver, read] = await Promise.all([health.store(), health.resolver(), reading()]);
    const [readings, traffic, nodes] = read ?? [null, [], []];
    const dns = engine.resolver.health();
    const mailboxes = engine.mailboxStats();
    const egress = engine.egressHealth();
    return {
      node: {
        version: VERSION,
        store: store.engine,
        running: verify.running,
        charges_waiting: store.charging.waiting,
        dialogues_open: mailboxes?.open ?? 0,
        checks_waiting: mailboxes?.waiting ?? 0,
        dns_queries: dns.asking,
        dns_cached: dns.cached,
      },
      nodes: nodes.map(({ id, label, version, startedAt, seenAt }) => ({
        id,
        label,
        version,
        started_at: toIso(startedAt),
        seen_at: toIsoOrNull(seenAt),
        answers: id === store.nodes.current,
      })),
      problems: {
        store: problem,
        resolver,
        clock: health.clock(),
        lists: lists.problem,
        egress_file: egressFile.problem,
      },
      egress: {
        state: egress?.state ?? 'no_helo_name',
        since: egress === null ? null : toIso(egress.since),
        egresses: egressRows(engine, identities),
      },
      lists: {
        version: lists.current.version,
        age_days: ageInDays(lists.current.version, clock.now()),
        disposable_domains: lists.current.size,
      },
      ...hoursOf(traffic, clock.now()),
      store:
        readings === null
          ? null
          : {
              jobs: readings.jobs.map(({ kind, state, count }) => ({ kind, state, count })),
              holds: Object.values(readings.holds).reduce((sum, { byAge }) => sum + sumOf(byAge), 0),
              oldest_hold_seconds: oldest(Object.values(readings.holds).map(({ oldestMs }) => oldestMs)),
              purge_lag_seconds: Math.round(readings.purgeLagMs / 1000),
              low_balances: readings.lowBalances,
            },
      operators: engine.useByOperator().map((use) => ({
        operator: use.operator,
        dialogues_open: use.dialoguesOpen,
        waiting: use.waiting,
        breakers_open: use.breakersOpen,
        breakers_half_open: use.breakersHalfOpen,
        pace: use.pace,
      })),
    };
  };
}

const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

function oldest(ages: readonly (number | null)[]): number | null {
  const known = ages.filter((age) => age !== null);
  return known.length === 0 ? null : Math.round(Math.max(...known) / 1000);
}

interface HourOfTraffic {
  verifications: number;
  rejected: number;
  readonly mx: LatencyCounts;
  readonly smtp: LatencyCounts;
}
const emptyHour = (): HourOfTraffic => ({ verifications: 0, rejected: 0, mx: new Map(), smtp: new Map() });

/** Sums the verifications and rejected requests of all accounts by hour, with their latencies. */
function hoursOf(traffic: readonly Omit<TrafficRow, 'account'>[], now: number) {
  const first = (Math.floor(now / HOUR_MS) - HOURS_PER_DAY + 1) * HOUR_MS;
  const hours = Array.from({ length: HOURS_PER_DAY }, emptyHour);
  const all = emptyHour();
  for (const { hour, metric, bucket, count } of traffic) {
    const own = hours[(hour - first) / HOUR_MS];
    if (own === undefined) continue;
    if (metric === 'status') own.rejected += count;
    else {
      own.verifications += count;
      addCount(own[metric], bucket, count);
      addCount(all[metric], bucket, count);
    }
  }
  const latency = ({ mx, smtp }: HourOfTraffic) => ({ mx: percentiles(mx), smtp: percentiles(smtp) });
  return {
    hours: hours.map((hour, i) => ({
      at: toIso(first + i * HOUR_MS),
      verifications: hour.verifications,
      rejected: hour.rejected,
      latency: latency(hour),
    })),
    latency: latency(all),
  };
}
