import type { Clock } from '../../kernel/clock.ts';
import type { MailboxLimit } from '../verify.ts';
import type { SmtpLimits } from './limits.ts';
import type { HostOwners, SilentOperator } from './operators.ts';
import type { Read, ReplyReading } from './outcome.ts';
import type { RandomBelow } from './probe.ts';
import type { Reply } from './reply.ts';
import type { SharedPaceOptions } from './shared-pace.ts';

/** Input of the classifier (classify.ts). */
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

export interface CheckLimit extends MailboxLimit {
  /** Ends the check as well: shared by all of them. */
  readonly cut?: AbortSignal;
}

export interface MailboxCheckOptions extends HostOwners {
  readonly clock: Clock;
  /** Whole numbers below n, of a cryptographically strong source: `randomInt` of kernel/ids.ts. */
  readonly random: RandomBelow;
  readonly classify: (request: ReadRequest) => ReplyReading;
  /** The address guard: `(ip) => routable(ip, { allowPrivate, own })`. */
  readonly mayDial: (ip: string) => boolean;
  readonly port: number;
  readonly helo: string;
  /** `user@host`, or `<>`. */
  readonly sender: string;
  /** Local addresses to connect from; empty: the system's choice. */
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
  /** With other processes; default: with none. */
  readonly sharedPace?: SharedPaceOptions | null;
  readonly limits?: Partial<SmtpLimits>;
  /** Default: data/smtp-operators.json. */
  readonly silentOperators?: readonly SilentOperator[];
}
