import { type Clock, HOUR_MS } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { RESET_LINK_HOURS } from '../../kernel/facts/lifetimes.ts';
import { LINK_TOKEN_LENGTH } from '../../kernel/facts/limits.ts';
import { widestNetworkOf } from '../../kernel/ip.ts';
import type { PasskeyRecord, Store, User, UserChange } from '../../store/store.ts';
import type { Mail } from '../mail.ts';
import type { MailLimits } from '../mail-limits.ts';
import type { Devices } from './devices.ts';
import type { Library } from './library.ts';
import type { BrowserRequest } from './library-calls.ts';
import type { Limits } from './limits.ts';
import { type NotifyUser, sourceOf } from './notices.ts';
import type { SignedIn } from './session.ts';
import { beginSession, toUserSession, type UserSession } from './sessions.ts';

import { endLinks, type KeptAccess, resetOf, type UserAdmin } from './user-admin.ts';
import type { From, UserAudit } from './user-audit.ts';
import { isUsableEmail, rejectWeakPassword } from './validate.ts';

/** Empty lists for an address that nobody has proven: nothing can be kept then. */
interface ResetSubject {
  readonly email: string;
  readonly passkeys: readonly PasskeyRecord[];
  readonly sessions: readonly UserSession[];
}

/** The format of link tokens; others are not looked up. */
const TOKEN = new RegExp(`^[0-9A-Za-z]{${LINK_TOKEN_LENGTH.min},${LINK_TOKEN_LENGTH.max}}$`);

/** Counts the attempt and rejects malformed tokens. */
export async function admitToken(limits: Limits, browser: BrowserRequest, token: string): Promise<string> {
  await limits.countIp('token-ip', browser);
  if (TOKEN.test(token)) return token;
  throw new ApiError('link_expired');
}

/** By whoever has the user's session. */
const attemptOf = (id: string, from: From) => ({ user: { id }, by: 'self', from, factor: 'password' }) as const;

interface PasswordParts {
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly mailLimits: Pick<MailLimits, 'admit'>;
  readonly devices: Devices;
  readonly audit: UserAudit;
  readonly userAdmin: UserAdmin;
  readonly store: Pick<Store, 'users' | 'members' | 'jobs' | 'signIns'>;
  readonly notify: NotifyUser;
  readonly clock: Clock;
  readonly url: () => string;
  readonly mail: Mail | null;
}

export function createPasswords({
  library,
  limits,
  mailLimits,
  devices,
  audit,
  userAdmin,
  store,
  notify,
  clock,
  url,
  mail,
}: PasswordParts) {
  async function requireStrong(password: string, { id, email, name }: Pick<SignedIn, 'id' | 'email' | 'name'>) {
    const accounts = (await store.members.ofUser(id)).map(({ accountName }) => accountName);
    await rejectWeakPassword(password, { email, name, accounts });
  }

  /** Counts the attempt. Throws ApiError: `wrong_password` for the field, or too many attempts. */
  async function check(user: string, password: string, field: string, from: From): Promise<void> {
    await audit.attempt(attemptOf(user, from), async () => {
      await limits.countUser('password', user);
      const { internalAdapter, password: passwords } = await (await library()).$context;
      const hash = (await internalAdapter.findCredentialAccount(user))?.password;
      if (!hash || !(await passwords.verify({ hash, password })))
        throw new ApiError('wrong_password', undefined, { field });
    });
    await limits.clear('password', user);
  }

  /** Returns the user of a link. Throws ApiError. */
  async function userOf(token: string): Promise<User> {
    const { internalAdapter } = await (await library()).$context;
    const known = await internalAdapter.findVerificationValue(resetOf(token));
    const user = known === null || known.expiresAt.getTime() <= clock.now() ? null : await store.users.get(known.value);
    if (user === null) throw new ApiError('link_expired');
    return user;
  }

  return {
    /** Mails a link if the address has a user; neither the reply nor its timing reveals that. Throws ApiError. */
    async forgot(browser: BrowserRequest, typed: string) {
      if (mail === null) {
        const message = 'This service cannot send mail. Ask its operator for a link (mailvet user reset-password).';
        throw new ApiError('not_found', message);
      }
      const email = typed.trim().toLowerCase();
      const from = await devices.originFor(browser, email);
      await limits.count('mail', email, from);
      if (!isUsableEmail(email)) return;
      // The reply does not show that the mailbox has had enough mails.
      const day =
        from.device === null
          ? await mailLimits.admit('password_reset', email, widestNetworkOf(from.ip))
          : await mailLimits.admit('own_password_reset', email, from.device);
      // The job checks whether the address has a user, so that the reply's timing does not reveal it.
      if (day === null) await store.jobs.add({ kind: 'password_reset', payload: { email } });
    },

    /** Called by the job of `forgot`: mails the link if the address has a user. Throws JobFailure. */
    async mailReset(email: string, jobId: string) {
      const user = await store.users.byEmail(email);
      if (user === null || mail === null) return;
      const token = await userAdmin.passwordToken(user.id, RESET_LINK_HOURS * HOUR_MS);
      await mail.passwordReset({ to: user.email, link: `${url()}/reset-password#token=${token}` }, jobId);
    },

    /** What a link to choose a password would end and remove, for whoever has it. Throws ApiError. */
    async lookUpReset(browser: BrowserRequest, typed: string): Promise<ResetSubject> {
      const { id, email, emailVerified } = await userOf(await admitToken(limits, browser, typed));
      if (!emailVerified) return { email, passkeys: [], sessions: [] };
      const [passkeys, sessions] = await Promise.all([store.signIns.passkeys(id), store.signIns.sessions(id)]);
      return { email, passkeys, sessions: sessions.map(toUserSession) };
    },

    /** Sets a password by link; ends the sessions of the user and removes their passkeys unless they are kept. */
    async reset(
      browser: BrowserRequest,
      { token: typed, password, keep }: { token: string; password: string; keep?: KeptAccess },
    ) {
      const token = await admitToken(limits, browser, typed);
      const user = await userOf(token);
      const { internalAdapter, password: passwords } = await (await library()).$context;
      await requireStrong(password, user);
      const hash = await passwords.hash(password);
      // Of several requests with the same link, one consumes it.
      if ((await internalAdapter.consumeVerificationValue(resetOf(token))) === null) throw new ApiError('link_expired');
      const within = (change: UserChange) => audit.record(change, browser, 'user.password_reset');
      await userAdmin.setPassword(user.id, hash, sourceOf(browser), { ...(keep && { keep }), within });
      await limits.clear('sign-in', user.email);
    },

    /** Ends all other sessions of the user and rotates this one. Mails the user. */
    async change(
      browser: BrowserRequest,
      user: SignedIn,
      { current, password }: { current: string; password: string },
    ) {
      await requireStrong(password, user);
      await check(user.id, current, 'current', browser);
      const opened = await library();
      const { internalAdapter, password: passwords } = await opened.$context;
      // Hashed before the transaction, during which the store may be waiting.
      const hash = await passwords.hash(password);
      return store.signIns.change({ user: user.id, session: user.session }, async (change) => {
        await internalAdapter.updatePassword(user.id, hash);
        await change.endSessions();
        await endLinks(opened, user.id);
        await notify(change, 'password_changed', sourceOf(browser));
        await audit.record(change, browser, 'user.password_changed');
        return beginSession(opened, browser, user.id, user);
      });
    },

    /** Confirms an irreversible action. Throws ApiError: `wrong_password`, or too many attempts. */
    confirm: (user: string, password: string, from: From) => check(user, password, 'password', from),
  };
}

export type PasswordService = ReturnType<typeof createPasswords>;
