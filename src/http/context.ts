import type { IncomingMessage } from 'node:http';
import type { ServiceReply } from '../contract/dashboard/operator.ts';
import type { Clock } from '../kernel/clock.ts';
import type { CompatVendor } from '../kernel/compat-vendors.ts';
import type { MailServerProblem } from '../kernel/facts/checks.ts';
import type { Plans } from '../kernel/facts/plans.ts';
import type { PolicyAction } from '../kernel/facts/policies.ts';
import type { Logger } from '../kernel/log.ts';
import type { Via } from '../kernel/log-origins.ts';
import type { AdmissionService, Caller } from '../service/admission.ts';
import type { AlertService } from '../service/alerts.ts';
import type { Costs } from '../service/costs.ts';
import type { DashboardServices } from '../service/dashboard.ts';
import type { FilterService } from '../service/filters.ts';
import type { HookService } from '../service/hooks.ts';
import type { ListService } from '../service/lists/service.ts';
import type { OutcomeSourceService } from '../service/outcome-sources.ts';
import type { OutcomeService } from '../service/outcomes.ts';
import type { PolicyService } from '../service/policies.ts';
import type { PrivacyService } from '../service/privacy.ts';
import type { SignInService } from '../service/sign-in/service.ts';
import type { usageOf } from '../service/usage.ts';
import type { SeenService, VerifyService } from '../service/verify.ts';
import type { WebhookService } from '../service/webhooks/webhooks.ts';
import type { createDashboardLimiter, createFailedAuthLimiter, createOperatorLimiter } from './access/limiters.ts';
import type { WebFiles } from './dashboard/web-files.ts';
import type { GuideFiles } from './guide-files.ts';
import type { ConnectionBounds } from './server.ts';

export interface Health {
  /** Null when it answers, else the reason. */
  store(): Promise<string | null>;
  resolver(): Promise<string | null>;
  clock(): string | null;
  /** What keeps mail servers from being asked, and since when; null: nothing, or the mailbox check is not set up. */
  mailServers(): { readonly state: MailServerProblem; readonly since: number } | null;
  /** Further findings shown in /readyz; they do not make the service unready. */
  details(): Record<string, unknown>;
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, unknown, ...infer Rest] ? Rest : never;

/** The services behind the handlers; made once, in main.ts. */
export interface HttpContext extends DashboardServices {
  readonly signIn: SignInService;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly costs: Costs;
  readonly admission: AdmissionService;
  readonly usage: (...args: Tail<Parameters<typeof usageOf>>) => ReturnType<typeof usageOf>;
  readonly verify: VerifyService;
  readonly seen: SeenService;
  readonly filters: FilterService;
  readonly policies: PolicyService;
  readonly privacy: PrivacyService;
  readonly outcomes: OutcomeService;
  readonly webhooks: WebhookService;
  readonly alerts: AlertService;
  readonly hooks: HookService;
  readonly outcomeSources: OutcomeSourceService;
  readonly lists: ListService;
  /** The address that was probably meant by a mistyped one, or null. */
  readonly didYouMean: (email: string) => string | null;
  /** Whether the list of disposable domains has this one, in lower case. */
  readonly isDisposable: (domain: string) => boolean;
  /** Services whose paths are served at the root as well. */
  readonly compat: readonly CompatVendor[];
  readonly health: Health;
  /** The names of the egresses in use. */
  readonly egressNames: () => readonly string[];
  readonly serviceStatus: () => Promise<ServiceReply>;
  readonly callerIp: (request: IncomingMessage) => string;
  readonly connections: ConnectionBounds;
  readonly failedAuth: ReturnType<typeof createFailedAuthLimiter>;
  readonly dashboardLimiter: ReturnType<typeof createDashboardLimiter>;
  readonly operatorLimiter: ReturnType<typeof createOperatorLimiter>;
  /** Prometheus text, or null where metrics are off on this listener. */
  readonly metrics: { token: string | null; text(): Promise<string> } | null;
  /** Runs for every reply, for the metrics and the counters of accounts. */
  readonly answered: (request: {
    method: string;
    route: string;
    /** What the row says in `via`. */
    via: Via | null;
    status: number;
    seconds: number;
    caller: Caller | undefined;
    requestId: string;
    /** The address is canonical. */
    ip: string;
    /** Its status is not the reply's where the contract of another service has a status of its own. */
    error: { readonly code: string; readonly status: number } | null;
    /** A hook's reply is none of ours: a status of 400 may be its answer. */
    answer: PolicyAction | null;
  }) => void;
  readonly webFiles: WebFiles;
  readonly guideFiles: GuideFiles;
  /** True from SIGTERM on: not ready, but everything is served. */
  readonly draining: () => boolean;
  /** True once the drain is over: connections are closed after their reply. */
  readonly closing: () => boolean;
  readonly logger: Logger;
  readonly publicUrl: string;
  /** Makes the first user, on the host; null where there is none to make. */
  readonly setupCommand: string | null;
  /** Whether the lines of requests have the caller's IP. */
  readonly logsClientIp: boolean;
  /** Where to report vulnerabilities, as a URI; null: not published. */
  readonly securityContact: string | null;
  /** The same once the service listens: with the port that it has. */
  readonly url: () => string;
  /** Stays false in a process that only runs jobs: it has no `/v1` and no dashboard. */
  readonly answersRequests: boolean;
}
