/**
 * How many mails one mailbox gets in a day, from all accounts and unauthenticated clients together, and from whom it
 * gets none.
 * Counted in the store, on all nodes together. The sign-in limits (sign-in/limits.ts) bound those who ask; this bounds
 * what arrives.
 */
import { mailboxOf } from '../engine/address/mailbox.ts';
import { DAY_MS } from '../kernel/clock.ts';
import { MAILS_PER_MAILBOX, MAILS_PER_MAILBOX_AND_ORIGIN } from '../kernel/facts/limits.ts';
import type { MailPayload } from '../kernel/jobs.ts';
import type { Logger } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';

interface MailRule {
  /** How many mails of one origin a mailbox gets in a day; null: any number. */
  readonly perOrigin: number | null;
  /** Whether a mail waits for another day when the mailbox has had its fill. All mails count towards that. */
  readonly waitsForOthers: boolean;
}
/**
 * Somebody else causes it. The origin is their network or account, none of which can use up what the others may send.
 */
const BY_OTHERS: MailRule = { perOrigin: MAILS_PER_MAILBOX_AND_ORIGIN, waitsForOthers: true };
/**
 * Nobody but the recipient, or a member of their account, can cause it: it does not depend on what others have sent.
 */
const OWN_MAIL: MailRule = { perOrigin: MAILS_PER_MAILBOX, waitsForOthers: false };

const MAIL_LIMIT_RULES = {
  /** The origin is the inviting account. */
  invitation: BY_OTHERS,
  /** Also the notice that the address has a user. The origin is the network. */
  sign_up: BY_OTHERS,
  /** An unknown device asks for it; the origin is its network. */
  password_reset: BY_OTHERS,
  /** A device of the user asks for it, and is the origin. */
  own_password_reset: OWN_MAIL,
  /** The origin is the account. */
  alert: OWN_MAIL,
  low_balance: OWN_MAIL,
  /** The origin is the account. */
  webhook_disabled: OWN_MAIL,
  /** Never withheld: whoever takes a user over could use a limit up before. */
  security_change: { perOrigin: null, waitsForOthers: false },
} as const satisfies Record<
  MailPayload['template'] | 'alert' | 'sign_up' | 'password_reset' | 'own_password_reset',
  MailRule
>;
type MailCause = keyof typeof MAIL_LIMIT_RULES;

/** Why a mail was not sent: its recipient has had enough, or its account is suspended or deleted. */
type Withheld = 'recipient' | 'account';

/** The subject in `Store.attempts` under which a mailbox's mails are counted. */
export const mailsTo = (email: string): string => `mails:${mailboxOf(email)}`;

export function createMailLimits(parts: { store: Pick<Store, 'accounts' | 'attempts'>; logger: Logger }) {
  const { attempts, accounts } = parts.store;
  const counts = new Map<string, { labels: { kind: MailCause; reason: Withheld }; count: number }>();

  function withhold(kind: MailCause, reason: Withheld): void {
    const row = counts.get(`${kind} ${reason}`) ?? { labels: { kind, reason }, count: 0 };
    counts.set(`${kind} ${reason}`, { ...row, count: row.count + 1 });
    parts.logger.info({ kind, reason }, 'a mail was withheld');
  }

  return {
    /**
     * Counts a mail that is about to be sent or queued. `origin`: who causes it, as the rules say. Null: it may be
     * sent; otherwise it must not, and the limit and the end of its day are returned.
     */
    async admit(cause: MailCause, to: string, origin: string) {
      const { perOrigin, waitsForOthers }: MailRule = MAIL_LIMIT_RULES[cause];
      const over = async (limit: number, from?: string) => {
        const { count, endsAt } = await attempts.count(mailsTo(to), DAY_MS, from);
        return count > limit ? { limit, endsAt } : null;
      };
      // The origin first: what it may not send does not count against the mailbox.
      const own = perOrigin === null ? null : await over(perOrigin, `${cause} ${origin}`);
      const all = own === null ? await over(MAILS_PER_MAILBOX) : null;
      const exceeded = own ?? (waitsForOthers ? all : null);
      if (exceeded !== null) withhold(cause, 'recipient');
      return exceeded;
    },

    /** Whether mails on behalf of an account are sent: it is neither suspended nor deleted. */
    async accountMaySend(cause: MailCause, account: string) {
      if ((await accounts.get(account))?.status === 'active') return true;
      withhold(cause, 'account');
      return false;
    },

    /** Mails that were not sent, since the start of the process. */
    withheld: () => [...counts.values()],
  };
}

export type MailLimits = ReturnType<typeof createMailLimits>;
