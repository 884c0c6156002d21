/** The mailbox question: asks the hosts of a domain about one address and puts together what was found. */
import type { Clock } from '../../kernel/clock.ts';
import type { Address } from '../address/parse.ts';
import type { CatchAllEvidence, DnsEvidence, SmtpEvidence } from '../evidence.ts';
import { CatchAllCache } from './catchall.ts';
import { Check, type World } from './check.ts';
import { isQualifiedName, parseSender } from './identity.ts';
import { SMTP_LIMITS, type SmtpLimits } from './limits.ts';
import { loadSilentOperators, type SilentOperator } from './operators.ts';
import type { Read, ReplyReading } from './outcome.ts';
import { Pace, type PaceStats } from './pace.ts';
import { Pool } from './pool.ts';
import type { RandomBelow } from './probe.ts';
import type { Reply } from './reply.ts';

/** The classifier's question (classify.ts). */
export interface ReadRequest {
  readonly stage: Parameters<Read>[0];
  readonly reply: Reply;
  /** Name of the provider, or null. */
  readonly operator: string | null;
  readonly echoes: {
    readonly address: string;
    readonly ourNames: readonly string[];
    readonly ourIps: readonly string[];
  };
}

export interface MailboxCheckOptions {
  readonly clock: Clock;
  /** Whole numbers below n, of a cryptographically strong source: `randomInt` of kernel/ids.ts. */
  readonly random: RandomBelow;
  readonly classify: (request: ReadRequest) => ReplyReading;
  /** The address guard: `(ip) => routable(ip, { allowPrivate, own })`. */
  readonly mayDial: (ip: string) => boolean;
  readonly registrableDomain: (host: string) => string | null;
  readonly port: number;
  readonly helo: string;
  /** `user@host`, or `<>`. */
  readonly sender: string;
  /** Local addresses to ask from, in turn; empty: the system's choice. */
  readonly bind: readonly string[];
  readonly connectionsPerHost: number;
  readonly ratePerOperator: number;
  readonly breakerSeconds: number;
  /** `demanded` (default): only where the server insists. */
  readonly tls?: 'demanded' | 'opportunistic';
  /** Our addresses as servers may echo them. */
  readonly ownIps?: readonly string[];
  /** Laboratories: an unqualified HELO name is taken. */
  readonly anyHelo?: boolean;
  readonly limits?: Partial<SmtpLimits>;
  /** Default: data/smtp-operators.json. */
  readonly silentOperators?: readonly SilentOperator[];
}

export interface MailboxCheck {
  /** Never rejects. `deadline`: `Clock.elapsed()` ms. An aborted signal ends the dialogue with QUIT. */
  check(
    subject: { readonly address: Address; readonly dns: DnsEvidence },
    limit: { readonly deadline: number; readonly signal?: AbortSignal },
  ): Promise<{ smtp: SmtpEvidence; catchAll: CatchAllEvidence }>;
  stats(): PaceStats & { readonly sessions: number; readonly idle: number };
  close(): void;
}

/** Throws a TypeError for a HELO name or a sender that no server should be shown. */
export function createMailboxCheck(options: MailboxCheckOptions): MailboxCheck {
  const { clock, helo, port, mayDial, connectionsPerHost, ratePerOperator, breakerSeconds, bind } = options;
  const sender = parseSender(options.sender);
  if (sender === null) throw new TypeError('the sender is no mail address');
  if (!isQualifiedName(helo) && !(options.anyHelo && /^[a-z0-9.[\]:-]+$/i.test(helo))) {
    throw new TypeError('the HELO name is not a qualified host name');
  }
  const limits = { ...SMTP_LIMITS, ...options.limits };
  const { dialogues } = limits;
  const pace = new Pace({ clock, connectionsPerHost, ratePerOperator, breakerSeconds, egress: bind, dialogues });
  const pool = new Pool({ clock, limits, pace, helo, port, mayDial });
  const silent = new Set((options.silentOperators ?? loadSilentOperators()).map(({ operator }) => operator));
  const world: World = { options, sender, limits, pace, pool, silent, cache: new CatchAllCache(clock) };
  return {
    check: (subject, limit) => new Check(world, subject, limit).run(),
    stats: () => ({ ...pace.stats(), sessions: pool.sessions.open, idle: pool.sessions.idle }),
    close: () => pool.close(),
  };
}
