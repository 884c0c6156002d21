import type { ConfirmedAction, Factor } from '../../kernel/audit-actions.ts';
import type { Clock } from '../../kernel/clock.ts';
import { HOUR_MS } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { SETUP_LINK_HOURS } from '../../kernel/facts/lifetimes.ts';
import { FIRST_ACCOUNT } from '../../kernel/facts/plans.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/log.ts';
import type { Account, Actor, Invitation, Store, User } from '../../store/store.ts';
import { firstAccountInput } from '../first-account.ts';
import type { Mail } from '../mail.ts';
import type { MailLimits } from '../mail-limits.ts';
import { parsePersonName } from '../names.ts';
import { createDevices, type Devices } from './devices.ts';
import type { Library } from './library.ts';
import type { BrowserRequest } from './library-calls.ts';
import { type Cookies, callLibrary, cookiesOf, type ErrorMapping, headersOf, relyingParty } from './library-calls.ts';
import { createLimits, type Limits } from './limits.ts';
import { createNotifyUser, type NotifyUser, sourceOf } from './notices.ts';
import { createOidc, type OidcService } from './oidc.ts';
import type { OidcProvider, OidcSettings } from './oidc-provider.ts';
import { lazyLibrary } from './open.ts';
import { createPasskeys, type PasskeyService } from './passkeys.ts';
import { admitToken, createPasswords, type PasswordService } from './password-change.ts';
import { endSecondFactor } from './second-factor-sessions.ts';
import type { SignedIn } from './session.ts';
import { beginSession, createSessionList, createSessions, ONE_TIME_CODE, type SessionService } from './sessions.ts';
import { type CheckDeliverability, createSignUp } from './sign-up.ts';
import { createUserAdmin, newToken, removeAuthenticator, signInOf, type UserAdmin } from './user-admin.ts';
import { createUserAudit, type UserAudit } from './user-audit.ts';
import { parseEmail, rejectWeakPassword } from './validate.ts';

export type { BrowserRequest } from './library-calls.ts';

/**
 * Authentication. The library (better-auth) manages users, passwords, second factors and sessions; roles, invitations
 * and the audit log are ours. All methods throw ApiError.
 */
export type SignInService = ReturnType<typeof createAllSignIns>;

interface SignInParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The public URL has no trailing slash. */
  readonly url: () => string;
  /** Signs cookies; null: use the store's own secret. */
  readonly secret: string | null;
  readonly mail: Mail | null;
  readonly mailLimits: MailLimits;
  /** Null: sign-up is closed. */
  readonly signup: { readonly credits: number } | null;
  readonly checkDeliverability: CheckDeliverability;
  /** Null means that it is not configured. */
  readonly oidc: { readonly settings: OidcSettings; readonly provider: OidcProvider } | null;
}

export function createSignIn(parts: SignInParts): SignInService {
  const all = createAllSignIns(parts);
  return parts.oidc?.settings.only ? withoutPasswords(all) : all;
}

/** Without what begins a session, or leads to one, but for the OpenID provider and links of the operator. */
function withoutPasswords(all: SignInService): SignInService {
  const off = async (): Promise<never> => {
    throw new ApiError('passwords_off');
  };
  const { passwords, passkeys, invitations } = all;
  return {
    ...all,
    signIn: off,
    signUp: off,
    verifyEmail: off,
    beginTotp: off,
    passwords: { ...passwords, forgot: off, lookUpReset: off, reset: off, change: off },
    passkeys: { ...passkeys, addOptions: off, add: off, signInOptions: off, signIn: off },
    invitations: {
      ...invitations,
      // The user is signed in already.
      accept: (browser, { token, password }) =>
        password === undefined ? invitations.accept(browser, { token }) : off(),
    },
  };
}

function createAllSignIns(parts: SignInParts) {
  const { store, clock, url, mail, mailLimits, signup, checkDeliverability } = parts;
  const library = lazyLibrary(parts);
  const limits = createLimits({ attempts: store.attempts, clock });
  const notify = createNotifyUser({ mail: mail !== null, clock, url });
  const userAdmin = createUserAdmin({ store, library, clock, notify });
  const devices = createDevices({ library, users: store.users, newId: newToken });
  const audit = createUserAudit(store.auditLog, clock);
  const sessions = createSessions({ library, limits, devices, audit, signIns: store.signIns, clock });
  const common = { store, library, limits, devices, audit, userAdmin, notify, clock };
  const passwords = createPasswords({ ...common, mailLimits, url, mail });
  const openSignUp = signup !== null && mail !== null ? { mail, credits: signup.credits } : null;
  const endPreviousSession = async (browser: BrowserRequest) => void (await sessions.endSession(browser));
  const passkeys = createPasskeys({ ...common, relyingParty: () => relyingParty(url()), endPreviousSession });
  const hasPassword = async (user: string): Promise<boolean> => {
    if (parts.oidc?.settings.only) return false;
    const { internalAdapter } = await (await library()).$context;
    return Boolean((await internalAdapter.findCredentialAccount(user))?.password);
  };
  const { fromBrowser } = sessions;
  const oidc =
    parts.oidc &&
    createOidc({ ...parts.oidc, ...common, endPreviousSession, fromBrowser, hasPassword, logger: parts.logger });
  const confirm = createConfirmation({ library, limits, devices, audit, passwords, passkeys, oidc });
  return {
    ...sessions,
    ...createSessionList({ store, library, audit }),
    ...createSecondFactor({ store, library, limits, devices, audit, notify, confirm, hasPassword }),
    ...createSignUp({ ...common, mailLimits, sessions, checkDeliverability, openSignUp, url }),
    setup: createSetup({ store, library, limits, userAdmin, sessions, clock }),
    passwords,
    passkeys,
    confirm,
    /** Whether the user can confirm with a password. */
    hasPassword,
    invitations: createInvitations({ store, library, limits, userAdmin, sessions }),
    /** Null means that it is not configured. */
    oidc,
    /** The user has a link of the command line. Throws ApiError. */
    async signInByLink(browser: BrowserRequest, typed: string) {
      const identifier = signInOf(await admitToken(limits, browser, typed));
      const { internalAdapter } = await (await library()).$context;
      const link = await internalAdapter.consumeVerificationValue(identifier);
      if (link === null || link.expiresAt.getTime() <= clock.now()) throw new ApiError('link_expired');
      return sessions.signInAs(browser, link.value);
    },
    /** The oldest account comes first. */
    accountsOf: (user: SignedIn) => store.members.ofUser(user.id),
    /** Failed attempts that are still to be written. */
    failures: audit,
    /** Whether sign-up is open and mail can be sent; the OpenID provider, and whether there is nothing else. */
    offers: { signup: openSignUp !== null, mail: mail !== null, oidc: parts.oidc?.settings ?? null },
  };
}

// Confirming who one is.

/**
 * One of these. `credential`: of one of the user's passkeys, in the JSON form used by browsers. `oidc`: the user has
 * signed in at the OpenID provider again, for this action.
 */
interface Proof {
  readonly password?: string;
  readonly code?: string;
  readonly credential?: Readonly<Record<string, unknown>>;
  readonly oidc?: true;
}

/**
 * Confirms that a signed-in user is at the keyboard, not just somebody with the session. Throws ApiError:
 * `missing_parameter`, `wrong_password`, `wrong_code`, `passkey_refused`, `oidc_refused`, or too many attempts.
 */
type ConfirmUser = (browser: BrowserRequest, user: SignedIn, proof: Proof, action: ConfirmedAction) => Promise<void>;

const SECOND_FACTOR_ERRORS: ErrorMapping = {
  INVALID_CODE: 'wrong_code',
  INVALID_BACKUP_CODE: 'wrong_code',
  TOTP_NOT_ENABLED: 'wrong_code',
  BACKUP_CODES_NOT_ENABLED: 'wrong_code',
  // Concurrent requests used the recovery codes; the other one won.
  CONFLICT: 'wrong_code',
};

function createConfirmation(parts: {
  library: () => Promise<Library>;
  limits: Limits;
  devices: Devices;
  audit: UserAudit;
  passwords: Pick<PasswordService, 'confirm'>;
  passkeys: Pick<PasskeyService, 'confirm'>;
  oidc: Pick<OidcService, 'useConfirmation'> | null;
}): ConfirmUser {
  const { library, limits, devices, audit, passwords, passkeys, oidc } = parts;

  /** The code comes from the authenticator app, or is a recovery code, which is used up. */
  async function confirmCode(browser: BrowserRequest, user: SignedIn, typed: string): Promise<void> {
    const off = 'Two-factor authentication is off. Use your password.';
    if (!user.secondFactor) throw new ApiError('wrong_code', off, { field: 'code' });
    await limits.count('code', user.id, await devices.originOf(browser, user.id));
    const code = typed.replaceAll(/\s/g, '');
    const isOneTime = ONE_TIME_CODE.test(code);
    if (isOneTime && !(await limits.firstUse(user.id, code))) throw new ApiError('wrong_code');
    const { api } = await library();
    const call = { body: { code }, headers: headersOf(browser, 'session_token') };
    await callLibrary(SECOND_FACTOR_ERRORS, async () =>
      isOneTime ? api.verifyTOTP(call) : api.verifyBackupCode(call),
    );
    await limits.clear('code', user.id);
  }
  return async (browser, user, { password, code, credential, oidc: byProvider }, action) => {
    if (password !== undefined) return passwords.confirm(user.id, password, browser);
    if (code !== undefined)
      return audit.attempt({ user: { id: user.id }, by: 'self', from: browser, factor: 'code' }, () =>
        confirmCode(browser, user, code),
      );
    if (credential !== undefined) return passkeys.confirm(browser, user, credential);
    if (byProvider === true && oidc !== null) return oidc.useConfirmation(user, action);
    throw new ApiError('missing_parameter', 'password, code, credential or oidc is missing.', { field: 'password' });
  };
}

// Invitations

/** The link proves who owns the address, which its present user never did: it becomes theirs, with a new password. */
const claims = (invitation: Invitation, user: User): boolean => invitation.provesAddress && !user.emailVerified;

const userActor = ({ id, email }: User, ip: string): Actor => ({ kind: 'user', id, name: email, ip });

interface InvitationParts {
  readonly store: Pick<Store, 'users' | 'members'>;
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly userAdmin: UserAdmin;
  readonly sessions: Pick<SessionService, 'signInAs' | 'fromBrowser' | 'rename'>;
}

function createInvitations(parts: InvitationParts) {
  const { store, library, limits, userAdmin, sessions } = parts;

  async function find(browser: BrowserRequest, typed: string): Promise<{ invitation: Invitation; hash: string }> {
    const hash = sha256Hex(await admitToken(limits, browser, typed));
    const invitation = await store.members.invitation(hash);
    if (invitation === null) throw new ApiError('link_expired');
    return { invitation, hash };
  }

  async function acceptAs(hash: string, user: User, ip: string): Promise<void> {
    if ((await store.members.accept(hash, user.id, userActor(user, ip))) === null) throw new ApiError('link_expired');
  }

  /** Whoever has not proven to own the address stays in the account that invited them. */
  async function requireProvenElsewhere(user: User, { account }: Invitation): Promise<void> {
    if (user.emailVerified) return;
    const accounts = await store.members.ofUser(user.id);
    if (accounts.some((other) => other.account !== account)) throw new ApiError('address_not_confirmed');
  }

  return {
    /** `known`: the address already has a user, so no password is needed. Throws ApiError. */
    async lookUp(browser: BrowserRequest, token: string) {
      const { invitation } = await find(browser, token);
      const known = await store.users.byEmail(invitation.email);
      return { invitation, known: known !== null && !claims(invitation, known) };
    },

    /** Creates and signs in a new user; an existing user must already be signed in. Throws ApiError. */
    async accept(
      browser: BrowserRequest,
      { token, name, password }: { token: string; name?: string; password?: string },
    ) {
      const { invitation, hash } = await find(browser, token);
      const known = await store.users.byEmail(invitation.email);
      if (known !== null && !claims(invitation, known)) {
        await requireProvenElsewhere(known, invitation);
        const session = await sessions.fromBrowser(browser);
        if (session?.user.id !== known.id)
          throw new ApiError('not_signed_in', `Sign in as ${known.email} first, then open the link again.`);
        await acceptAs(hash, known, browser.ip);
        return { setCookie: session.setCookie };
      }
      if (name === undefined) throw missing('name');
      if (password === undefined) throw missing('password');
      const email = parseEmail(invitation.email);
      const called = parsePersonName(name);
      await rejectWeakPassword(password, { email, name: called, accounts: [invitation.accountName] });
      const { password: passwords } = await (await library()).$context;
      const hashed = await passwords.hash(password);
      if (known !== null) {
        const by = userActor(known, browser.ip);
        await userAdmin.setPassword(known.id, hashed, sourceOf(browser), {
          account: invitation.account,
          // An invitation that was withdrawn meanwhile changes nothing.
          async within(change) {
            if ((await change.acceptInvitation(hash, by)) === null) throw new ApiError('link_expired');
          },
        });
        await sessions.rename(known, called);
        return sessions.signInAs(browser, known.id);
      }
      const proven = invitation.provesAddress;
      const user = await userAdmin.create({ email, name: called, password: hashed, proven });
      if (user === null)
        throw new ApiError('link_expired', 'This address already has a user. Sign in, then open the link again.');
      await acceptAs(hash, user, browser.ip).catch(async (error: unknown) => {
        await store.users.remove(user.id);
        throw error;
      });
      return sessions.signInAs(browser, user.id);
    },
  };
}

// Second factors

const missing = (field: string) => new ApiError('missing_parameter', `The parameter "${field}" is missing.`, { field });

interface TotpSecret {
  /** `otpauth://totp/…` */
  readonly uri: string;
  /** The secret is in Base32. */
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

const BEGIN: ErrorMapping = { INVALID_PASSWORD: 'wrong_password', TOTP_ALREADY_ENABLED: 'second_factor_exists' };
const CONFIRMATION_ERRORS: ErrorMapping = {
  INVALID_CODE: 'wrong_code',
  TOTP_NOT_ENABLED: ['wrong_code', 'There is no secret to confirm. Start again with a new one.'],
};

function createSecondFactor(parts: {
  store: Pick<Store, 'signIns'>;
  library: () => Promise<Library>;
  limits: Limits;
  devices: Devices;
  audit: UserAudit;
  notify: NotifyUser;
  confirm: ConfirmUser;
  hasPassword: (user: string) => Promise<boolean>;
}) {
  const { library, limits, devices, audit, notify, confirm, hasPassword } = parts;
  const { signIns } = parts.store;
  const attempt = <T>(browser: BrowserRequest, { id }: SignedIn, factor: Factor, work: () => Promise<T>): Promise<T> =>
    audit.attempt({ user: { id }, by: 'self', from: browser, factor }, work);

  /** `password`: which the library verifies; absent for a user who has none. */
  async function makeSecret(browser: BrowserRequest, password: { password?: string }): Promise<TotpSecret> {
    const { api } = await library();
    const body = { ...password, method: 'totp' } as const;
    const made = await callLibrary(BEGIN, () =>
      api.enableTwoFactor({ body, headers: headersOf(browser, 'session_token') }),
    );
    if (made.method !== 'totp') throw new TypeError('not a TOTP secret');
    const secret = new URL(made.totpURI).searchParams.get('secret');
    if (secret === null) throw new TypeError('the URI has no secret');
    return { uri: made.totpURI, secret, recoveryCodes: made.backupCodes };
  }

  async function makeSecretByPassword(browser: BrowserRequest, user: SignedIn, password: string): Promise<TotpSecret> {
    await limits.countUser('password', user.id);
    const made = await makeSecret(browser, { password });
    await limits.clear('password', user.id);
    return made;
  }

  async function confirmTotp(browser: BrowserRequest, user: SignedIn, typed: string): Promise<Cookies> {
    await limits.count('code', user.id, await devices.originOf(browser, user.id));
    const { api } = await library();
    const code = typed.replaceAll(/\s/g, '');
    if (!(await limits.firstUse(user.id, code))) throw new ApiError('wrong_code');
    const call = { body: { code }, headers: headersOf(browser, 'session_token'), returnHeaders: true } as const;
    const setCookie = await signIns.change({ user: user.id, session: user.session }, async (change) => {
      // Rotates the session.
      const { headers } = await callLibrary(CONFIRMATION_ERRORS, () => api.verifyTOTP(call));
      if (!change.user.secondFactor) await notify(change, 'second_factor_on', sourceOf(browser));
      await audit.record(change, browser, 'user.second_factor_enabled');
      return cookiesOf(headers);
    });
    await limits.clear('code', user.id);
    return { setCookie };
  }

  async function removeTotp(browser: BrowserRequest, user: SignedIn, proof: Proof): Promise<Cookies> {
    await confirm(browser, user, proof, 'remove_totp');
    const opened = await library();
    const context = await opened.$context;
    return signIns.change({ user: user.id, session: user.session }, async (change) => {
      await removeAuthenticator(opened, user.id);
      if (change.user.secondFactor) await notify(change, 'second_factor_off', sourceOf(browser));
      // It is the same session, rotated.
      await change.endSession(user.session);
      const next = await beginSession(opened, browser, user.id, user);
      await endSecondFactor(context, user.id);
      await audit.record(change, browser, 'user.second_factor_disabled');
      return next;
    });
  }

  return {
    /**
     * A secret for an authenticator app, with recovery codes, returned only here; takes effect once a code confirms it.
     * Takes the password of who has one.
     */
    async beginTotp(browser: BrowserRequest, user: SignedIn, proof: Proof) {
      if (user.secondFactor) throw new ApiError('second_factor_exists');
      const { password } = proof;
      if (password !== undefined)
        return attempt(browser, user, 'password', () => makeSecretByPassword(browser, user, password));
      if (await hasPassword(user.id)) throw missing('password');
      await confirm(browser, user, proof, 'set_up_totp');
      return makeSecret(browser, {});
    },
    /** Mails the user, as `removeTotp`. */
    confirmTotp: (browser: BrowserRequest, user: SignedIn, code: string) =>
      attempt(browser, user, 'code', () => confirmTotp(browser, user, code)),
    removeTotp,
  };
}

// The first user

interface SetupParts {
  readonly store: Pick<Store, 'users' | 'accounts' | 'members' | 'plans'>;
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly userAdmin: UserAdmin;
  readonly sessions: Pick<SessionService, 'signInAs'>;
  readonly clock: Clock;
}

function createSetup({ store, library, limits, userAdmin, sessions, clock }: SetupParts) {
  // It is in memory only: the link ends with the process.
  let link: { readonly hash: string; readonly endsAt: number } | null = null;

  /** Consumes the link synchronously, so that no other request can use it. */
  function take(token: string): NonNullable<typeof link> {
    const taken = link;
    if (taken === null || taken.hash !== sha256Hex(token) || taken.endsAt <= clock.now())
      throw new ApiError('link_expired');
    link = null;
    return taken;
  }

  async function oldestAccount(): Promise<Account> {
    const accounts = await store.accounts.list();
    const oldest = accounts.reduce<Account | null>(
      (found, account) => (found === null || account.createdAt < found.createdAt ? account : found),
      null,
    );
    return oldest ?? store.accounts.create(firstAccountInput(store.plans));
  }

  async function makeOwner(by: { name: string; email: string; password: string }, ip: string): Promise<string> {
    const { password: passwords } = await (await library()).$context;
    const user = await userAdmin.create({ ...by, password: await passwords.hash(by.password) });
    if (user === null) throw new ApiError('link_expired');
    try {
      await store.users.setOperator(user.id, true);
      const { id } = await oldestAccount();
      // Last, because adding an owner cannot be undone.
      await store.members.add(id, user.id, 'owner', { kind: 'user', id: user.id, name: user.email, ip });
      return user.id;
    } catch (error) {
      await store.users.remove(user.id);
      throw error;
    }
  }

  // Once there was one, a link is of no use to others.
  let hasUsers = false;
  async function wanted(): Promise<boolean> {
    hasUsers ||= (await store.users.count()) > 0;
    return !hasUsers;
  }

  return {
    /** Whether there is no user. */
    wanted,

    /** The token of a new one-time link, which replaces any earlier one; null if there already is a user. */
    async offer() {
      if (!(await wanted())) return null;
      const token = newToken();
      link = { hash: sha256Hex(token), endsAt: clock.now() + SETUP_LINK_HOURS * HOUR_MS };
      return token;
    },

    /**
     * Only someone with access to the host has the link: they become owner of the oldest account, and operator. Throws
     * ApiError.
     */
    async use(
      browser: BrowserRequest,
      { token: typed, name, email, password }: { token: string; name: string; email: string; password: string },
    ) {
      const token = await admitToken(limits, browser, typed);
      const owner = { name: parsePersonName(name), email: parseEmail(email), password };
      await rejectWeakPassword(password, { ...owner, accounts: [FIRST_ACCOUNT.name] });
      const taken = take(token);
      try {
        if ((await store.users.count()) > 0) throw new ApiError('link_expired');
        return await sessions.signInAs(browser, await makeOwner(owner, browser.ip));
      } catch (error) {
        // There still is no user, so restore the link.
        if (!(error instanceof ApiError) || error.status >= 500) link = taken;
        throw error;
      }
    },
  };
}
