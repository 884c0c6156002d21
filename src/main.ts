/** The only place that constructs and connects the parts: options in, a running service out. */
import { smtpIdentityOf } from './config/egress.ts';
import { configuredPlans } from './config/plans.ts';
import { hostInUrl, type Options, publicUrlOf } from './config/read.ts';
import { mailboxOf } from './engine/address/mailbox.ts';
import { createEngine } from './engine/create.ts';
import { watchDomainData } from './engine/data/domain-data.ts';
import { buildApp } from './http/app.ts';
import { startIdentityWatch, startNodeReport, startStoreClock } from './jobs/rounds.ts';
import { within } from './kernel/bounded-wait.ts';
import { type Clock, systemClock } from './kernel/clock.ts';
import { messageOf } from './kernel/errors.ts';
import { DASHBOARD_PER_WINDOW } from './kernel/facts/limits.ts';
import type { Plans } from './kernel/facts/plans.ts';
import { counted } from './kernel/format.ts';
import { randomToken } from './kernel/ids.ts';
import type { Logger } from './kernel/log.ts';
import { VERSION } from './kernel/version.ts';
import { WEB_FOLDERS } from './main/built-files.ts';
import { Closers } from './main/closers.ts';
import { EgressFile } from './main/egress-reload.ts';
import { logDnsTrust } from './main/health.ts';
import { startJobs } from './main/jobs.ts';
import { LAME_DUCK_MS, listenForRequests } from './main/listen.ts';
import { LiveOptions } from './main/live-options.ts';
import { observe, openMetrics } from './main/metrics.ts';
import { createServices } from './main/services.ts';
import { Identities } from './service/doctor.ts';
import { testOnlyAccount } from './service/first-account.ts';
import { watchStoreClock } from './service/store-clock.ts';
import { openStore } from './store/open.ts';
import type { Store, StoreEvent } from './store/store.ts';

const LOG_MESSAGES = {
  rate_window_restarted: "an account's rate window lay in the future, as the clock was set back; it began again",
  attempt_window_restarted: 'a limit on sign-in attempts lay in the future, as the clock was set back; it began again',
  thread_lost: 'a thread of the store ended; it is started again, and what it was doing was refused',
} as const satisfies Record<StoreEvent['kind'], string>;

const logStoreEvents =
  (logger: Logger) =>
  ({ kind, ...about }: StoreEvent): void =>
    logger.warn(about, LOG_MESSAGES[kind]);

type SharedRatesSetup = NonNullable<Parameters<typeof createEngine>[0]['sharedRates']> | null;

/** Nodes on one PostgreSQL store share the pace of their egress address. A node on SQLite is alone. */
function sharedRatesOf(
  { smtpPaceGroup: group }: Pick<Options, 'smtpPaceGroup'>,
  { engine, paceSlices }: Pick<Store, 'engine' | 'paceSlices'>,
  logger: Logger,
): SharedRatesSetup {
  if (engine === 'sqlite' || group === null) return null;
  const node = randomToken(22);
  return {
    group,
    lease: (requests, leaseMs) => paceSlices.lease(node, requests, leaseMs),
    failed: (error) => logger.error({ err: error }, 'the pace at mail servers could not be shared; it is tried again'),
  };
}

export interface Service {
  /** Where it is reached. */
  readonly url: string;
  /** Where it listens, `http://host:port`; a wildcard address as it is. */
  readonly address: string;
  readonly store: Store;
  /** A new one-time setup link, which replaces any earlier one; null once a user exists. */
  setupLink(): Promise<string | null>;
  /** The command that makes the first user; null once one exists. */
  setupCommand(): Promise<string | null>;
  /** Reports not ready from now on, and still serves as before, until `stop`. */
  drain(): void;
  /**
   * Takes what can change of the options, null: of none, and reads the egress file again. Never rejects: mistakes in
   * that file are logged, and change nothing.
   */
  reload(next: Options | null): Promise<void>;
  /**
   * Reports not ready immediately, lets requests in flight finish, then closes everything, all within 30 s. Returns the
   * names of the parts that failed to close.
   */
  stop(): Promise<readonly string[]>;
}

interface Environment {
  readonly clock?: Clock;
  readonly webFolders?: readonly string[];
  readonly dashboardPerWindow?: number;
  readonly lameDuckMs?: number;
  /** Aborts the start: everything opened so far is closed, and the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Starts the service. Throws if an option, a port or the store prevents it, and leaves nothing open. */
export async function startService(options: Options, logger: Logger, environment: Environment = {}): Promise<Service> {
  const closers = new Closers(logger);
  try {
    return await start(options, logger, closers, environment);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** What the store needs before requests are answered: its clock, our report, and nothing left of dead processes. */
async function prepareStore(
  options: Options,
  parts: { store: Store; clock: Clock; logger: Logger; closers: Closers; signal: AbortSignal },
) {
  const { store, clock, logger, closers, signal } = parts;
  const storeClock = watchStoreClock(store, clock);
  const clockWatch = await orAborted(signal, () => startStoreClock(storeClock, logger));
  closers.add('clock of the store', 2_000, () => clockWatch.stop());
  const nodeReport = startNodeReport(() => store.nodes.report(VERSION), logger);
  closers.add('report of the node', 2_000, () => nodeReport.stop());
  await orAborted(signal, () => store.upkeep.releaseDead(signal));
  await orAborted(signal, () => store.users.claimMailboxes(mailboxOf));
  const keepAs = options.storeAddresses === 'hash' ? await orAborted(signal, () => store.addressHasher()) : null;
  if (options.testOnly) await testOnlyAccount(store, options.testKeys);
  return { storeClock, keepAs };
}

async function start(
  options: Options,
  logger: Logger,
  closers: Closers,
  {
    clock = systemClock,
    webFolders = WEB_FOLDERS,
    dashboardPerWindow = DASHBOARD_PER_WINDOW,
    lameDuckMs = LAME_DUCK_MS,
    signal = new AbortController().signal,
  }: Environment,
): Promise<Service> {
  if (options.allowPrivateNetworks) {
    logger.warn(
      'MAILVET_ALLOW_PRIVATE_NETWORKS is on: mail hosts may have private addresses; use it in laboratories only',
    );
  }
  const store = await openMigrated(options, logger, clock, closers, signal);
  const { storeClock, keepAs } = await prepareStore(options, { store, clock, logger, closers, signal });
  const lists = watchDomainData(options.listsDir, clock, { learned: options.listsLearnHosts });
  const providers = () => lists.current.providerNames;
  const smtp = await smtpIdentityOf(options, providers);
  const engine = createEngine({
    ...options,
    domainData: () => lists.current,
    smtp,
    sharedRates: sharedRatesOf(options, store, logger),
    clock,
    onDnsTrust: (change) => logDnsTrust(change, logger),
  });
  closers.add('verification engine', 2000, () => engine.close());
  const egressFile = new EgressFile({ options, logger, engine, providers }, smtp?.egresses ?? []);
  const live = new LiveOptions(options, logger);
  const identities = new Identities({ ...options, egresses: () => egressFile.egresses });
  const identityWatch = startIdentityWatch(() => identities.lookUp(), logger);
  closers.add('look at the names of egresses', 2_000, () => identityWatch.stop());
  const metrics = await openMetrics(options, closers);
  let url = options.publicUrl;
  let draining = false;
  const parts = {
    options,
    logger,
    clock,
    storeClock,
    store,
    keepAs,
    engine,
    lists,
    metrics,
    closers,
    egressFile,
    live,
    identities,
    webFolders,
    dashboardPerWindow,
    url: () => url,
  };
  const services = createServices({ ...parts, draining: () => draining || closers.closing });
  const { context } = services;
  const app = buildApp(context);
  const { verify, health } = context;
  if (metrics) observe(metrics, { ...services, ...parts, verify, health });
  if (context.answersRequests) {
    await orAborted(signal, () => requireProvider(services.oidc, options, logger));
    await orAborted(signal, () => store.charging.open());
  }
  signal.throwIfAborted();
  const port = await listenForRequests(app, options, lameDuckMs, closers);
  const listening = options.port === 0 ? publicUrlOf(options.host, port) : options.publicUrl;
  if (options.publicUrl === publicUrlOf(options.host, 0)) url = listening;
  if (!options.testOnly) engine.resolver.check();
  startJobs({ ...services, ...parts });

  async function setupLink(): Promise<string | null> {
    const token = await context.signIn.setup.offer();
    return token === null ? null : `${url}/setup#token=${token}`;
  }
  const setupCommand = async () => ((await context.signIn.setup.wanted()) ? context.setupCommand : null);
  async function reload(next: Options | null): Promise<void> {
    if (next !== null) live.reload(next);
    await egressFile.reload();
    identityWatch.now();
  }
  function drain(): void {
    draining = true;
    logger.info('draining: not ready, still serving');
  }
  const address = `http://${hostInUrl(options.host)}:${port}`;
  return { url: listening, address, store, setupLink, setupCommand, drain, reload, stop: () => closers.closeAll() };
}

/** Where nobody could sign in without the OpenID provider, a wrong set-up shows at the start. Throws. */
async function requireProvider(
  oidc: ReturnType<typeof createServices>['oidc'],
  { oidcOnly, oidcStartAnyway }: Pick<Options, 'oidcOnly' | 'oidcStartAnyway'>,
  logger: Logger,
): Promise<void> {
  if (oidc === null || !oidcOnly) return;
  try {
    await oidc.provider.check();
  } catch (error) {
    const why = error instanceof Error && error.cause instanceof Error ? error.cause.message : messageOf(error);
    const found = `MAILVET_OIDC_ISSUER is ${JSON.stringify(oidc.settings.issuer)}, which cannot be used (${why})`;
    const message = `${found}: with MAILVET_OIDC_ONLY nobody could sign in.`;
    if (!oidcStartAnyway)
      throw new Error(`${message} Correct it, or set MAILVET_OIDC_START_ANYWAY=true to start without it.`, {
        cause: error,
      });
    logger.warn(message);
  }
}

async function openMigrated(
  options: Options,
  logger: Logger,
  clock: Clock,
  closers: Closers,
  signal: AbortSignal,
): Promise<Store> {
  const { databaseUrl: url, retentionDays } = options;
  const plans = await configuredPlans(options);
  const sendsMail = options.mailUrl !== null;
  const store = await openStore({ url, clock, onEvent: logStoreEvents(logger), retentionDays, plans, sendsMail });
  closers.add('store', 5_000, () => store.close());
  for (const loose of store.looseModes()) logger.warn(loose, 'other users of this host can read or change the store');
  await orAborted(signal, () => store.migrate());
  refuseUnknownPlans(plans, await orAborted(signal, () => store.accounts.byPlan()));
  return store;
}

/** Accounts of a plan that the file no longer has could not be charged. */
function refuseUnknownPlans(plans: Plans, used: readonly { readonly plan: string; readonly accounts: number }[]): void {
  const missing = used.filter(({ plan }) => !plans.has(plan));
  if (missing.length === 0) return;
  const have = missing.map(({ plan, accounts }) => `${counted(accounts, 'account')} of plan "${plan}"`);
  throw new Error(
    `The store has ${have.join(', ')}, but there is no such plan. Put it back into MAILVET_PLANS_FILE, or give the ` +
      `accounts one of ${[...plans.keys()].join(', ')}: mailvet account list, mailvet account set <id> --plan <plan>.`,
  );
}

/** For steps that cannot be interrupted, such as waiting for another node's migration. */
const orAborted = <T>(signal: AbortSignal, step: () => Promise<T>): Promise<T> => within({ signals: [signal] }, step);
