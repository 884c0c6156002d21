import { mailboxOf } from '../../engine/address/mailbox.ts';
import { type Clock, HOUR_MS, toDate } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { SIGNUP_LINK_HOURS } from '../../kernel/facts/lifetimes.ts';
import { defaultPlan } from '../../kernel/facts/plans.ts';
import { widestNetworkOf } from '../../kernel/ip.ts';
import type { JobPayloads } from '../../kernel/jobs.ts';
import type { Store, User } from '../../store/store.ts';
import type { Mail } from '../mail.ts';
import type { MailLimits } from '../mail-limits.ts';
import { parsePersonName } from '../names.ts';
import type { Library } from './library.ts';
import type { BrowserRequest, Cookies } from './library-calls.ts';
import type { Limits } from './limits.ts';
import { admitToken } from './password-change.ts';
import type { SessionService } from './sessions.ts';
import { newToken, type UserAdmin } from './user-admin.ts';
import { parseEmail, rejectWeakPassword } from './validate.ts';

/**
 * Verifies with our own engine whether mail to the address would arrive; `why`: a message if not. Throws ApiError if
 * unknown.
 */
export type CheckDeliverability = (email: string) => Promise<{ good: true } | { good: false; why: string }>;

export interface SignUpService {
  /** Does not reveal whether the address or its mailbox has a user, except by mail to it. Throws ApiError. */
  signUp(browser: BrowserRequest, by: { name: string; email: string; password: string }): Promise<void>;
  /** Called by the job: mails a link, or a notice if the address already has a user. Throws JobFailure. */
  mailSignUp(pending: PendingSignUp, jobId: string): Promise<void>;
  /** The mailed link creates the user and their account, and signs in. */
  verifyEmail(browser: BrowserRequest, token: string): Promise<Cookies>;
}

interface SignUpParts {
  readonly store: Pick<Store, 'users' | 'accounts' | 'jobs' | 'plans'>;
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly mailLimits: Pick<MailLimits, 'admit'>;
  readonly userAdmin: UserAdmin;
  readonly sessions: Pick<SessionService, 'signInAs'>;
  readonly checkDeliverability: CheckDeliverability;
  /** Null: sign-up is closed. */
  readonly openSignUp: { readonly mail: Mail; readonly credits: number } | null;
  readonly clock: Clock;
  readonly url: () => string;
}

const identifierOf = (token: string): string => `sign-up:${token}`;

/** Not yet a user, so that nobody can claim an address that is not theirs. `password` is a hash. */
type PendingSignUp = JobPayloads['sign_up'];

export function createSignUp(parts: SignUpParts): SignUpService {
  const { store, library, limits, mailLimits, userAdmin, sessions, checkDeliverability, openSignUp, clock, url } =
    parts;

  /** Whoever has the mailbox, perhaps under another address. */
  async function ownerOf(email: string): Promise<User | null> {
    const id = await store.users.idByMailbox(mailboxOf(email));
    return id === null ? null : store.users.get(id);
  }

  /**
   * The user of a sign-up that was interrupted before there was an account: their hash, with its salt, is of no other.
   */
  async function unfinished({ email, password }: PendingSignUp): Promise<User | null> {
    const user = await store.users.byEmail(email);
    if (user === null) return null;
    const { internalAdapter } = await (await library()).$context;
    const credential = await internalAdapter.findCredentialAccount(user.id);
    return credential?.password === password ? user : null;
  }

  return {
    async signUp(browser, by) {
      if (openSignUp === null)
        throw new ApiError('not_found', 'Sign-up is closed. Ask an account owner for an invitation.');
      const name = parsePersonName(by.name);
      const email = parseEmail(by.email);
      await rejectWeakPassword(by.password, { email, name, accounts: [] });
      await limits.count('mail', email, { ip: browser.ip, device: null });
      const deliverability = await checkDeliverability(email);
      if (!deliverability.good) throw new ApiError('email_refused', deliverability.why, { field: 'email' });
      const { password: passwords } = await (await library()).$context;
      const password = await passwords.hash(by.password);
      // The reply does not show that the mailbox has had enough mails.
      if ((await mailLimits.admit('sign_up', email, widestNetworkOf(browser.ip))) !== null) return;
      // The job checks whether the address has a user, so that the reply's timing does not reveal it.
      await store.jobs.add({ kind: 'sign_up', payload: { name, email, password } });
    },

    async mailSignUp(pending, jobId) {
      if (openSignUp === null) return;
      const { mail } = openSignUp;
      const to = pending.email;
      const known = (await store.users.byEmail(to)) ?? (await ownerOf(to));
      // It goes to the address that they sign in with.
      if (known !== null) return mail.alreadyRegistered({ to: known.email, link: `${url()}/sign-in` }, jobId);
      const { internalAdapter } = await (await library()).$context;
      const token = newToken();
      const expiresAt = toDate(clock.now() + SIGNUP_LINK_HOURS * HOUR_MS);
      const value = JSON.stringify(pending);
      await internalAdapter.createVerificationValue({ identifier: identifierOf(token), value, expiresAt });
      return mail.confirmAddress({ to, link: `${url()}/verify-email#token=${token}` }, jobId);
    },

    async verifyEmail(browser, typed) {
      const token = await admitToken(limits, browser, typed);
      const { internalAdapter } = await (await library()).$context;
      const identifier = identifierOf(token);
      const found = await internalAdapter.findVerificationValue(identifier);
      if (found === null || found.expiresAt.getTime() <= clock.now() || openSignUp === null)
        throw new ApiError('link_expired');
      const pending: PendingSignUp = JSON.parse(found.value);
      const user = (await userAdmin.create({ ...pending, alone: true })) ?? (await unfinished(pending));
      const { credits } = openSignUp;
      const input = { name: pending.name, plan: defaultPlan(store.plans), rateLimit: null, credits, note: 'Sign-up' };
      const by = user && ({ kind: 'user', id: user.id, name: user.email, ip: browser.ip } as const);
      const account = by && (await store.accounts.createFor(by.id, input, by));
      // It is deleted only now, so that the link works again where a step before failed.
      await internalAdapter.deleteVerificationByIdentifier(identifier);
      if (user === null || account === null) throw new ApiError('link_expired', 'This address already has a user.');
      return sessions.signInAs(browser, user.id);
    },
  };
}
