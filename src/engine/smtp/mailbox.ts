/** The mailbox check: queries the hosts of a domain about one address and combines the results. */
import type { Address } from '../address/parse.ts';
import type { CatchAllEvidence, DnsEvidence, SmtpEvidence } from '../evidence.ts';
import { CatchAllCache } from './catchall.ts';
import { Check, type CheckDeps } from './check.ts';
import { isQualifiedName, parseSender } from './identity.ts';
import { SMTP_LIMITS } from './limits.ts';
import type { OperatorNames, OperatorUse } from './operator-use.ts';
import { loadSilentOperators } from './operators.ts';
import type { CheckLimit, MailboxCheckOptions } from './options.ts';
import { Pool } from './pool.ts';
import { SharedPace } from './shared-pace.ts';
import { Throttle, type ThrottleStats } from './throttle.ts';

export interface MailboxCheck {
  /** Never rejects. */
  check(
    subject: { readonly address: Address; readonly dns: DnsEvidence },
    limit: CheckLimit,
  ): Promise<{ smtp: SmtpEvidence; catchAll: CatchAllEvidence }>;
  /** Forgets which domains are catch-all. */
  forgetCatchAll(): void;
  /** `slices`: of the pace shared with other processes, which this one has or waits for. */
  stats(): ThrottleStats & { readonly sessions: number; readonly idle: number; readonly slices: number };
  /** For metrics. */
  useByOperator(names: OperatorNames): OperatorUse[];
  /** Ends every session; resolves when the slices of a shared pace are given back. */
  close(): Promise<void>;
}

/** Throws a TypeError for an unqualified HELO name or an invalid sender. */
export function createMailboxCheck(options: MailboxCheckOptions): MailboxCheck {
  const { clock, helo, port, mayDial, connectionsPerHost, ratePerOperator, breakerSeconds, bind } = options;
  const sender = parseSender(options.sender);
  if (sender === null) throw new TypeError('The sender (from) must be an email address or <>.');
  if (!isQualifiedName(helo) && !(options.anyHelo && /^[a-z0-9.[\]:-]+$/i.test(helo))) {
    throw new TypeError('The HELO name (helo) must be a fully qualified host name, such as mail.example.com.');
  }
  const limits = { ...SMTP_LIMITS, ...options.limits };
  const { dialogues, networkFactor } = limits;
  const shared = options.sharedPace ? new SharedPace(clock, options.sharedPace) : null;
  const throttle = new Throttle({
    clock,
    connectionsPerHost,
    ratePerOperator,
    networkFactor,
    breakerSeconds,
    egress: bind,
    dialogues,
    shared,
  });
  const pool = new Pool({ clock, limits, throttle, helo, port, mayDial });
  const silent = new Set((options.silentOperators ?? loadSilentOperators()).map(({ operator }) => operator));
  const deps: CheckDeps = {
    options,
    sender,
    ourNames: sender === '' ? [helo] : [sender, helo, sender.slice(sender.lastIndexOf('@') + 1)],
    ourIps: [...(options.ownIps ?? []), ...bind],
    limits,
    throttle,
    pool,
    silent,
    cache: new CatchAllCache(clock),
  };
  return {
    check: (subject, limit) => new Check(deps, subject, limit).run(),
    forgetCatchAll: () => deps.cache.clear(),
    stats: () => ({
      ...throttle.stats(),
      sessions: pool.sessions.open,
      idle: pool.sessions.idle,
      slices: shared?.slices ?? 0,
    }),
    useByOperator: (names) => throttle.useByOperator(names),
    async close() {
      pool.close();
      await shared?.close();
    },
  };
}
