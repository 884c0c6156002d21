/**
 * The one place that constructs things and connects them: options in, a running service out.
 */
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Options } from './config/read.ts';
import { askerOf, publicUrlOf } from './config/read.ts';
import { createEngine, type Engine } from './engine/create.ts';
import { ageInDays } from './engine/doctor/service.ts';
import { type WatchedLists, watchLists } from './engine/lists/watch.ts';
import { ASKER_CONDITIONS } from './engine/smtp/asker.ts';
import { buildApp } from './http/app.ts';
import { callerIp } from './http/caller-ip.ts';
import { trackConnections } from './http/connections.ts';
import type { HttpContext } from './http/context.ts';
import type { DashboardContext } from './http/dashboard/context.ts';
import { createWebFiles } from './http/dashboard/web-files.ts';
import type { Metrics } from './http/metrics.ts';
import { createStrangers } from './http/strangers.ts';
import { startLowBalance } from './jobs/low-balance.ts';
import { startTraffic } from './jobs/traffic.ts';
import { startUpkeep } from './jobs/upkeep.ts';
import { type Clock, systemClock, toIso } from './kernel/clock.ts';
import { type Logger, shownAddress } from './kernel/log.ts';
import { createDashboard } from './service/dashboard.ts';
import { createFilterService } from './service/filters.ts';
import { createGate } from './service/gate.ts';
import { createLowBalanceMails } from './service/low-balance.ts';
import { createMail } from './service/mail.ts';
import { judgeBy } from './service/sign-in/judge-address.ts';
import { createSignIn } from './service/sign-in/service.ts';
import { createTrafficCounter } from './service/traffic.ts';
import { upkeep } from './service/upkeep.ts';
import { usageOf } from './service/usage.ts';
import { createVerifyService } from './service/verify.ts';
import { openStore } from './store/open.ts';
import type { Store } from './store/store.ts';

export interface Service {
  readonly url: string;
  readonly store: Store;
  /** The one-time link of the first start; null where somebody can sign in. An earlier link is void. */
  setupLink(): Promise<string | null>;
  /** Not ready at once; what is in flight finishes within 30 s; then the store is closed. */
  stop(): Promise<void>;
}

const MAX_RUNNING = 5000;
/** While connections are told to close after their reply, before the listener goes: nobody's request is cut off. */
const LAME_MS = 1000;
const DRAIN_MS = 30_000;

/** Starts the service; throws when an option, the port or the store does not let it. */
export async function startService(
  options: Options,
  logger: Logger,
  { clock = systemClock, webFolders = WEB_FOLDERS }: { clock?: Clock; webFolders?: readonly string[] } = {},
): Promise<Service> {
  if (options.allowPrivateNetworks) {
    logger.warn('MAILVET_ALLOW_PRIVATE_NETWORKS is on: mail hosts may be private addresses; for laboratories only');
  }
  const lists = watchLists(options.listsDir, clock);
  const store = await openStore({ url: options.databaseUrl, clock });
  const tools = createEngine({
    ...options,
    lists: () => lists.current,
    asker: askerOf(options),
    clock,
    onUnmatched: (reply) => logger.info(reply, 'a reply that no rule matches'),
  });
  try {
    await store.migrate();
    await store.upkeep.releaseDead();
    return await listen({ options, logger, clock, webFolders, store, tools, lists });
  } catch (error) {
    tools.close();
    await store.close();
    throw error;
  }
}

interface Parts {
  readonly options: Options;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly webFolders: readonly string[];
  readonly store: Store;
  readonly tools: Engine;
  readonly lists: WatchedLists;
}

async function listen({ options, logger, clock, webFolders, store, tools, lists }: Parts): Promise<Service> {
  let url = options.publicUrl;
  let draining = false;
  // Loaded only where they are wanted: that would take part of every start.
  const measuring =
    options.metricsToken !== null || options.metricsPort !== null ? await import('./http/metrics.ts') : null;
  const metrics = measuring?.createMetrics() ?? null;
  const mail =
    options.mailUrl === null ? null : createMail({ server: options.mailUrl, from: options.mailFrom, logger });
  const signIn = createSignIn({
    store,
    clock,
    logger,
    url: () => url,
    secret: options.authSecret,
    mail,
    signup: options.signup === 'open' ? { credits: options.signupCredits } : null,
    judge: judgeBy(tools),
  });
  const traffic = createTrafficCounter(store.traffic, clock);
  const verify = createVerifyService({
    charging: store.charging,
    tools,
    maxRunning: MAX_RUNNING,
    onVerdict(record, _evidence, caller) {
      traffic.verified(caller.accountId, record.validationType, record.durationMs);
      metrics?.verification({
        status: record.status,
        reason: record.reason,
        level: record.validationType,
        seconds: record.durationMs / 1000,
      });
      // Hashing the address costs more than the line, so only where it is written.
      if (!logger.isLevelEnabled('debug')) return;
      logger.debug(
        {
          verification: record.id,
          email: shownAddress(record.email, options.logAddresses),
          status: record.status,
          reason: record.reason,
        },
        'verified',
      );
    },
  });
  const context: DashboardContext = {
    ...createDashboard({
      store,
      clock,
      options: { ...options, asker: askerOf(options) },
      lists,
      url: () => url,
      sessions: signIn,
      confirmPassword: signIn.passwords.confirm,
      mail,
    }),
    signIn,
    clock,
    gate: createGate(store),
    usage: (caller, window, ask) => usageOf(store, clock, caller, window, ask),
    verify,
    filters: createFilterService(store),
    health: healthOf(store, tools, lists, clock),
    callerIp: callerIp(options.trustedProxies),
    strangers: createStrangers(clock),
    metrics: metrics && options.metricsToken !== null ? { token: options.metricsToken, text: metrics.text } : null,
    answered(request) {
      metrics?.request(request);
      if (request.status >= 400 && request.caller) traffic.refused(request.caller.accountId, request.status);
    },
    webFiles: createWebFiles(webFolders),
    docsScript,
    draining: () => draining,
    logger,
    publicUrl: options.publicUrl,
    url: () => url,
    answersRequests: options.role !== 'worker',
  };
  const app = await buildApp(context);
  if (metrics) {
    observe(metrics, verify, store);
    observeAsker(metrics, tools, clock);
  }
  const connections = trackConnections(app.server);
  await app.listen({ host: options.host, port: options.port });
  const metricsServer =
    measuring && metrics && options.metricsPort !== null
      ? await measuring.listenForMetrics(metrics, options.host, options.metricsPort)
      : null;
  const jobs = [startTraffic(traffic, logger)];
  if (options.role !== 'api') {
    jobs.push(startUpkeep(() => upkeep(store, clock, options.retentionDays), logger));
    if (mail) jobs.push(startLowBalance(createLowBalanceMails({ store, mail, url: () => url }), logger));
  }
  const { port } = app.server.address() as AddressInfo;
  const listening = options.port === 0 ? publicUrlOf(options.host, port) : options.publicUrl;
  if (options.publicUrl === publicUrlOf(options.host, 0)) url = listening;

  async function stop(): Promise<void> {
    draining = true;
    await new Promise((resolve) => setTimeout(resolve, LAME_MS));
    const cut = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS - LAME_MS);
    // Kept-alive connections, and such as never sent a request, would else hold up the end.
    const sweep = setInterval(connections.closeUnused, 100);
    connections.closeUnused();
    await app.close();
    clearTimeout(cut);
    clearInterval(sweep);
    metricsServer?.close();
    await signIn.settled();
    await Promise.all(jobs.map((job) => job.stop()));
    tools.close();
    await store.close();
  }
  async function setupLink(): Promise<string | null> {
    const token = await signIn.setup.offer();
    return token === null ? null : `${url}/setup#token=${token}`;
  }
  return { url: listening, store, setupLink, stop };
}

function healthOf(store: Store, tools: Engine, lists: WatchedLists, clock: Clock): HttpContext['health'] {
  return {
    store: () =>
      store.ping().then(
        () => null,
        (error: unknown) => `the store does not answer: ${error instanceof Error ? error.message : String(error)}`,
      ),
    async resolver() {
      const now = clock.elapsed();
      const alive = await tools.resolver.alive({ deadline: now + 1500, since: now });
      return alive ? null : 'no DNS resolver answers';
    },
    details: () => ({
      asker: askerDetails(tools),
      lists: listDetails(lists, clock),
      dns: dnsDetails(tools.resolver.health(), clock),
    }),
  };
}

/** Whether mail servers can be asked, as the checks so far have shown; nothing is asked for this. */
function askerDetails(tools: Engine) {
  const asker = tools.askerState();
  if (asker === null) return { state: 'no_helo_name', since: null, helo_configured: false };
  return { state: asker.state, since: toIso(asker.since), helo_configured: true };
}

function listDetails(lists: WatchedLists, clock: Clock) {
  const { version, size } = lists.current;
  return { version, age_days: ageInDays(version, clock.now()), disposable_domains: size, problem: lists.problem };
}

/** With times as one reads them: seconds ago. */
function dnsDetails({ lastAnswerAt, ...health }: ReturnType<Engine['resolver']['health']>, clock: Clock) {
  const seconds = lastAnswerAt === null ? null : Math.round((clock.elapsed() - lastAnswerAt) / 1000);
  return { last_answer_seconds_ago: seconds, cached: health.cached, asking: health.asking };
}

function observe(metrics: Metrics, verify: { running: number }, store: Store): void {
  metrics.gauge('mailvet_verifications_running', 'Checks that wait for DNS or a mail server.', () => verify.running);
  metrics.gauge('mailvet_charge_queue', 'Requests waiting for a transaction.', () => store.charging.waiting);
}

/** Kinds of unmatched replies that are shown one by one. */
const MOST_UNMATCHED = 100;

function observeAsker(metrics: Metrics, tools: Engine, clock: Clock): void {
  const { unmatched } = tools;
  metrics.gaugeBy('mailvet_asker_state', 'Whether mail servers can be asked: 1 at the present state.', 'state', () => {
    const state = tools.askerState()?.state ?? 'no_helo_name';
    return Object.fromEntries([...ASKER_CONDITIONS, 'no_helo_name'].map((name) => [name, name === state ? 1 : 0]));
  });
  metrics.gauge('mailvet_smtp_dialogues_open', 'Dialogues with mail servers.', () => tools.mailboxStats()?.open ?? 0);
  metrics.gauge(
    'mailvet_smtp_breakers_open',
    'Operators that refused our IP and are left alone.',
    () => tools.mailboxStats()?.breakersOpen ?? 0,
  );
  metrics.gauge('mailvet_lists_age_days', 'Age of the disposable list.', () =>
    ageInDays(tools.lists().version, clock.now()),
  );
  metrics.counterBy('mailvet_smtp_unmatched_replies_total', 'Replies that no rule matched.', [], () => [
    { labels: {}, count: unmatched.total },
  ]);
  const labels = ['fingerprint', 'code'] as const;
  metrics.counterBy('mailvet_smtp_unmatched_kinds_total', 'The most frequent of them, by kind.', labels, () =>
    unmatched
      .list()
      .slice(0, MOST_UNMATCHED)
      .map(({ fingerprint, code, count }) => ({ labels: { fingerprint, code }, count })),
  );
}

const fileHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Where `npm run build` puts the dashboard, as seen from the built file and from the sources. */
const WEB_FOLDERS = [fileHere('./web'), fileHere('../dist/web')];

/** Made by `npm run build`; absent while the sources run unbuilt. */
async function docsScript(): Promise<Buffer | null> {
  for (const place of ['./scalar.js', '../dist/scalar.js']) {
    const script = await readFile(fileHere(place)).catch(() => null);
    if (script) return script;
  }
  return null;
}
