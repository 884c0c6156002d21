/** Signing in with the organization's OpenID provider: who it is here, and what ends with it. */
import type { ConfirmedAction } from '../../kernel/audit-actions.ts';
import { type Clock, MINUTE_MS, toDate } from '../../kernel/clock.ts';
import { ApiError, messageOf } from '../../kernel/errors.ts';
import { OIDC_CONFIRMATION_MINUTES, OIDC_MINUTES } from '../../kernel/facts/lifetimes.ts';
import { isAtLeast, type Role } from '../../kernel/facts/roles.ts';
import { randomToken, sha256Hex } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/log.ts';
import type { AccountId, Invitation, OidcIdentity, Store, User, UserChange, UserEvent } from '../../store/store.ts';
import { harmlessName } from '../link-text.ts';
import { personNameOf } from '../names.ts';
import type { Devices } from './devices.ts';
import type { Library } from './library.ts';
import { type BrowserRequest, type Cookies, cookiesOf, headersOf } from './library-calls.ts';
import type { Limits } from './limits.ts';
import { sourceOf } from './notices.ts';
import { OidcError, oidcRefusal } from './oidc-failures.ts';
import {
  claimOf,
  LOGOUT_MAX_AGE_MS,
  type OidcChecks,
  type OidcClaims,
  type OidcProvider,
  type OidcSettings,
  sidOf,
  TOLERANCE_SECONDS,
} from './oidc-provider.ts';
import { oidcMark } from './oidc-sessions.ts';
import type { Sessions, SignedIn } from './session.ts';
import { beginSession } from './sessions.ts';
import type { UserAdmin } from './user-admin.ts';
import type { UserAudit } from './user-audit.ts';
import { isUsableEmail } from './validate.ts';

interface OidcFinished {
  /** Not signed in yet: a code is required next. */
  readonly secondFactor: boolean;
  /** What was confirmed, in the session that there was; null: this was a sign-in. */
  readonly confirmed: ConfirmedAction | null;
}

interface OidcParts {
  readonly settings: OidcSettings;
  readonly provider: OidcProvider;
  readonly store: Pick<Store, 'users' | 'members' | 'accounts' | 'signIns' | 'attempts'>;
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly devices: Devices;
  readonly audit: UserAudit;
  readonly userAdmin: UserAdmin;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly endPreviousSession: (browser: BrowserRequest) => Promise<void>;
  readonly fromBrowser: Sessions['fromBrowser'];
  readonly hasPassword: (user: string) => Promise<boolean>;
}

/** A person as the provider knows them. */
interface OidcPerson {
  readonly identity: OidcIdentity;
  /** The address is in lower case; null means that there is none that one could sign in with here. */
  readonly email: string | null;
  readonly verified: boolean;
  readonly name: string | null;
  /** The user gets this role in the account of MAILVET_OIDC_ACCOUNT; null means none. */
  readonly role: Role | null;
  readonly withSecondFactor: boolean;
  readonly mark: string;
}

/** What a sign-in at the provider is for: a session here, or the confirmation of an action in one. */
interface Purpose {
  /** The text is the hash of the invitation's token. */
  readonly invitation: string | null;
  readonly confirming: Confirming | null;
}
interface Confirming {
  readonly user: string;
  readonly session: string;
  readonly action: ConfirmedAction;
  /** When the browser was sent to the provider. */
  readonly since: number;
}
/** Kept while the browser is with the provider. */
interface Begun extends OidcChecks, Purpose {}

/** How a sign-in goes on once it is known whose it is. */
interface OidcAdmission {
  readonly user: string;
  readonly account?: AccountId;
  /** Runs in the transaction in which the session begins. */
  readonly within?: (change: UserChange) => Promise<void>;
  /** This sign-in proves the address: what others have set up ends. */
  readonly takesOver?: true;
  /** Says that it was created for this sign-in. */
  readonly isNew?: true;
}

const storedStateName = (state: string): string => `oidc:${state}`;
const confirmationOf = (session: string, action: ConfirmedAction): string => `oidc-confirmed:${session}:${action}`;
const STATE_TOKEN_LENGTH = 43;
const NAME_MAX = 100;
/** A claim may have so many values; providers that know more groups leave them out of the token. */
const VALUES_MAX = 1_000;

const textsOf = (claim: unknown): readonly string[] =>
  (Array.isArray(claim) ? claim.slice(0, VALUES_MAX) : [claim]).filter((one) => typeof one === 'string');

/** The highest of the mapped roles. A claim of any other shape than text or list of texts has none. */
function roleOf({ roleClaim, roleMap, role }: OidcSettings, claims: OidcClaims['all']): Role | null {
  if (roleClaim === null) return role;
  const values = new Set(textsOf(claimOf(claims, roleClaim)));
  const mapped = roleMap.filter(({ value }) => values.has(value)).map((one) => one.role);
  return mapped.reduce<Role | null>((most, one) => (most !== null && isAtLeast(most, one) ? most : one), null) ?? role;
}

/**
 * Whether the provider verified the address (Core 1.0 §5.1). Microsoft Entra ID does not say so, but that the tenant
 * owns the domain of the address (`xms_edov`): in its tokens a boolean, or a 1.
 */
const isVerified = ({ email_verified: verified, xms_edov: ownsDomain }: OidcClaims['all']): boolean =>
  verified === undefined ? ownsDomain === true || ownsDomain === 1 || ownsDomain === '1' : verified === true;

function personOfClaims(settings: OidcSettings, { subject, all }: OidcClaims): OidcPerson {
  const email = typeof all.email === 'string' ? all.email.trim().toLowerCase() : '';
  const factors = [...textsOf(all.amr), ...(typeof all.acr === 'string' ? [all.acr] : [])];
  const name = typeof all.name === 'string' ? harmlessName(all.name.slice(0, NAME_MAX)) : '';
  return {
    identity: { issuer: settings.issuer, subject },
    email: isUsableEmail(email) ? email : null,
    verified: isVerified(all),
    name: name === '' ? null : name,
    role: roleOf(settings, all),
    withSecondFactor: factors.some((one) => settings.secondFactor.includes(one)),
    mark: oidcMark(settings.issuer, sidOf(all.sid)),
  };
}

/** Whether they proved to the provider who they are while the browser was there. */
function isFresh({ authTime }: OidcClaims, { since }: Confirming, now: number): boolean {
  const toleranceMs = TOLERANCE_SECONDS * 1000;
  return authTime !== null && authTime >= since - toleranceMs && authTime <= now + toleranceMs;
}

/** Throws OidcError where only addresses of some domains may sign in. */
function checkDomain({ allowedDomains }: OidcSettings, { email, verified }: OidcPerson): void {
  if (allowedDomains === null) return;
  if (email === null) throw new OidcError('no_address');
  if (!allowedDomains.includes(email.slice(email.lastIndexOf('@') + 1))) throw new OidcError('domain_not_allowed');
  if (!verified) throw new OidcError('address_not_verified');
}

const linkedBy =
  (browser: BrowserRequest, audit: UserAudit, { identity }: OidcPerson) =>
  async (change: UserChange) => {
    if (!(await change.linkIdentity(identity))) {
      // A sign-in in another window has linked it meanwhile.
      if ((await change.subjectAt(identity.issuer)) === identity.subject) return;
      // A user has one subject of an issuer: another one is another person, who got the address later.
      throw new OidcError('other_subject');
    }
    await audit.record(change, browser, 'user.oidc_linked');
  };

/** Decides whose sign-in it is. */
function createAdmission({ settings, store, audit, userAdmin, library }: OidcParts) {
  const { users, members, accounts, signIns } = store;

  async function createUser(email: string, person: OidcPerson, proven: boolean): Promise<User | null> {
    return userAdmin.create({ email, name: person.name ?? personNameOf(email), password: null, proven });
  }

  /** Somebody who is linked already. With a role claim, their role is what it says now. */
  async function known(user: string, { role, identity }: OidcPerson, ip: string): Promise<OidcAdmission> {
    if (settings.roleClaim === null || settings.account === null) return { user };
    const membership = await members.role(settings.account, user);
    if (membership === null) return { user };
    if (role === null) throw new OidcError('no_role');
    const by = { kind: 'service', id: null, name: identity.issuer, ip } as const;
    if (membership.role !== role) await members.setRole(membership.account, user, role, by);
    return { user };
  }

  /** Handles the first sign-in without an invitation. */
  async function unknown(browser: BrowserRequest, person: OidcPerson): Promise<OidcAdmission | null> {
    const { email, verified, role } = person;
    if (email === null) throw new OidcError('no_address');
    if (!verified) throw new OidcError('address_not_verified');
    const link = linkedBy(browser, audit, person);
    const user = await users.byEmail(email);
    if (user?.emailVerified) return { user: user.id, within: link };
    const unfinished = user === null || (await isUnfinished(user));
    // Another window may have finished the same sign-in meanwhile.
    const linked = user === null ? null : await signIns.userByIdentity(person.identity);
    if (linked !== null) return { user: linked };
    if (!unfinished) throw new OidcError('address_not_proven');
    if (settings.account === null) throw new OidcError('no_invitation');
    if (role === null) throw new OidcError('no_role');
    const account = await accounts.get(settings.account);
    if (account === null) throw new OidcError('no_account');
    // The provider's word does not prove the address here: whoever gets a mail there takes the user over.
    const made = user ?? (await createUser(email, person, false));
    if (made === null) return null;
    const by = { kind: 'user', id: made.id, name: email, ip: browser.ip } as const;
    const within = async (change: UserChange) => {
      await link(change);
      await change.join(role, by);
    };
    return { user: made.id, account: account.id, within, ...(user === null ? { isNew: true } : {}) };
  }

  /** Created for a first sign-in that has not ended yet, or never will: nobody can sign in as that user. */
  async function isUnfinished({ id }: User): Promise<boolean> {
    if ((await members.ofUser(id)).length > 0 || (await signIns.passkeys(id)).length > 0) return false;
    const { internalAdapter } = await (await library()).$context;
    return (await internalAdapter.findCredentialAccount(id)) === null;
  }

  /** `hash`: of the token of an invitation, which proves the address where it was mailed. */
  async function invited(
    browser: BrowserRequest,
    person: OidcPerson,
    hash: string,
    linked: User | null,
  ): Promise<OidcAdmission | null> {
    const invitation = await members.invitation(hash);
    if (invitation === null) throw new ApiError('link_expired');
    if (linked === null && person.email === null) throw new OidcError('no_address');
    if ((linked?.email ?? person.email) !== invitation.email) throw new OidcError('other_address');
    const { account, email, provesAddress } = invitation;
    const link = linkedBy(browser, audit, person);
    const join = (user: Pick<User, 'id'>) => async (change: UserChange) => {
      if (linked === null) await link(change);
      const by = { kind: 'user', id: user.id, name: email, ip: browser.ip } as const;
      if ((await change.acceptInvitation(hash, by)) === null) throw new ApiError('link_expired');
    };
    const user = linked ?? (await users.byEmail(email));
    if (user === null) {
      const made = await createUser(email, person, provesAddress);
      return made && { user: made.id, account, within: join(made), isNew: true };
    }
    if (!user.emailVerified && provesAddress) return { user: user.id, account, within: join(user), takesOver: true };
    if (linked === null && !user.emailVerified) throw new OidcError('address_not_proven');
    if (linked === null && !person.verified) throw new OidcError('address_not_verified');
    await requireConfined(user, invitation);
    return { user: user.id, account, within: join(user) };
  }

  /** Whoever has not proven to own the address stays in the account that invited them. */
  async function requireConfined(user: User, { account }: Invitation): Promise<void> {
    if (user.emailVerified) return;
    const others = (await members.ofUser(user.id)).some((other) => other.account !== account);
    if (others) throw new ApiError('address_not_confirmed');
  }

  /** Returns null if another sign-in has created the user meanwhile. */
  return async (
    browser: BrowserRequest,
    person: OidcPerson,
    invitation: string | null,
  ): Promise<OidcAdmission | null> => {
    checkDomain(settings, person);
    const id = await signIns.userByIdentity(person.identity);
    if (invitation !== null) return invited(browser, person, invitation, id === null ? null : await users.get(id));
    return id === null ? unknown(browser, person) : known(id, person, browser.ip);
  };
}

/**
 * Collects what led to a failure, for the log of the service: libraries name claims and statuses, but show no token.
 */
const causesIn = (error: unknown): readonly string[] => {
  const causes: string[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 5; cause = cause.cause)
    causes.push(messageOf(cause).slice(0, 200));
  return causes;
};

export function createOidc(parts: OidcParts) {
  const { settings, provider, store, library, limits, devices, audit, userAdmin, clock, logger } = parts;
  const { signIns, attempts, users } = store;
  const admit = createAdmission(parts);

  /** The sign-in that this browser began and the provider answers; once. */
  async function takeBegun(browser: BrowserRequest, query: string): Promise<Begun> {
    const { api, $context } = await library();
    const state = await api.oidcState({ headers: headersOf(browser, 'oidc') });
    // Compared first, so that a link that somebody else made does not end a sign-in that is under way.
    if (state === null || new URLSearchParams(query).get('state') !== state) throw new OidcError('expired');
    const kept = await (await $context).internalAdapter.consumeVerificationValue(storedStateName(state));
    if (kept === null || kept.expiresAt.getTime() <= clock.now()) throw new OidcError('expired');
    // A node of the version before says nothing of confirmations.
    return { confirming: null, ...JSON.parse(kept.value), state };
  }

  /** Begins the session, or asks for the code of an authenticator app that the provider does not stand for. */
  async function begin(browser: BrowserRequest, change: UserChange, person: OidcPerson, asksCode: boolean) {
    const opened = await library();
    const { withSecondFactor, mark } = person;
    if (asksCode && !withSecondFactor) {
      const expiresAt = toDate(clock.now() + OIDC_MINUTES * MINUTE_MS);
      const body = { userId: change.user.id, oidcSession: mark, expiresAt };
      const { headers } = await opened.api.beginChallenge({ body, returnHeaders: true });
      return { secondFactor: true, setCookie: cookiesOf(headers) };
    }
    const begun = await beginSession(opened, browser, change.user.id, { withSecondFactor, oidcSession: mark });
    await audit.record(change, browser, 'user.signed_in', { factor: 'oidc' });
    return { secondFactor: false, setCookie: begun.setCookie };
  }

  async function enter(browser: BrowserRequest, person: OidcPerson, { user, ...admission }: OidcAdmission) {
    const { account, within, takesOver, isNew } = admission;
    const outcome: { done: Awaited<ReturnType<typeof begin>> | null } = { done: null };
    const work = (asksCode: (of: User) => boolean) => async (change: UserChange) => {
      await within?.(change);
      outcome.done = await begin(browser, change, person, asksCode(change.user));
    };
    const who = { user, ...(account && { account }) };
    try {
      if (takesOver) {
        const more = { ...(account && { account }), identity: person.identity, within: work(() => false) };
        await userAdmin.setPassword(user, null, sourceOf(browser), more);
      } else
        await signIns.change(
          who,
          work(({ secondFactor }) => secondFactor),
        );
    } catch (error) {
      if (isNew) await users.remove(user);
      throw error;
    }
    if (outcome.done === null) throw new TypeError('A sign-in that did not fail has begun.');
    return outcome.done;
  }

  async function admitted(
    browser: BrowserRequest,
    person: OidcPerson,
    invitation: string | null,
  ): Promise<OidcAdmission> {
    const admission = (await admit(browser, person, invitation)) ?? (await admit(browser, person, invitation));
    if (admission === null) throw new OidcError('expired');
    return admission;
  }

  /** Writes it to the audit log, and says it in words for the page. */
  function refuse(browser: BrowserRequest, error: OidcError, user: UserEvent['user']): ApiError {
    const { failure, detail } = error;
    logger.warn({ failure, causes: causesIn(error.cause) }, 'a sign-in with the OpenID provider was refused');
    audit.refused(user, browser, { factor: 'oidc', reason: failure, ...detail });
    return oidcRefusal(error, settings.name);
  }

  async function send(browser: BrowserRequest, purpose: Purpose): Promise<Cookies & { url: string }> {
    await limits.countIp('oidc-ip', await devices.originOf(browser, null));
    const checks = {
      state: randomToken(STATE_TOKEN_LENGTH),
      nonce: randomToken(STATE_TOKEN_LENGTH),
      verifier: randomToken(64),
    };
    const { state, ...kept } = checks;
    const { confirming } = purpose;
    const url = await provider.authorizationUrl(checks, confirming !== null).catch((error: unknown) => {
      const user = confirming === null ? { unlinkedEmail: '' } : { id: confirming.user };
      throw error instanceof OidcError ? refuse(browser, error, user) : error;
    });
    const { api, $context } = await library();
    const value = JSON.stringify({ ...kept, ...purpose });
    const expiresAt = toDate(clock.now() + OIDC_MINUTES * MINUTE_MS);
    const { internalAdapter } = await $context;
    await internalAdapter.createVerificationValue({ identifier: storedStateName(state), value, expiresAt });
    const { headers } = await api.setOidcState({ body: { state }, returnHeaders: true });
    return { url, setCookie: cookiesOf(headers) };
  }

  async function forgetState(): Promise<readonly string[]> {
    const { headers } = await (await library()).api.setOidcState({ body: { state: '' }, returnHeaders: true });
    return cookiesOf(headers);
  }

  /** The person of this session has signed in at the provider again: the action can be done, once. */
  async function confirm(browser: BrowserRequest, query: string, checks: OidcChecks, confirming: Confirming) {
    const { user, session, action } = confirming;
    if ((await parts.fromBrowser(browser))?.user.session !== session) throw new OidcError('expired');
    const claims = await provider.claims(query, checks);
    const person = personOfClaims(settings, claims);
    checkDomain(settings, person);
    if ((await signIns.userByIdentity(person.identity)) !== user) throw new OidcError('other_person');
    if (!isFresh(claims, confirming, clock.now())) throw new OidcError('not_fresh');
    const { internalAdapter } = await (await library()).$context;
    const identifier = confirmationOf(session, action);
    // An earlier one that was not used ends.
    await internalAdapter.deleteVerificationByIdentifier(identifier);
    const expiresAt = toDate(clock.now() + OIDC_CONFIRMATION_MINUTES * MINUTE_MS);
    await internalAdapter.createVerificationValue({ identifier, value: user, expiresAt });
    return { secondFactor: false, confirmed: action, setCookie: await forgetState() };
  }

  return {
    /** Where the browser goes. `invitation`: the token of one to accept on return. Throws ApiError. */
    begin: (browser: BrowserRequest, invitation: string | null) =>
      send(browser, { invitation: invitation === null ? null : sha256Hex(invitation), confirming: null }),

    /**
     * Where the browser of a user without a password goes to confirm this action, by signing in there again. Throws
     * ApiError.
     */
    async beginConfirmation(browser: BrowserRequest, { id, session }: SignedIn, action: ConfirmedAction) {
      if (await parts.hasPassword(id))
        throw new ApiError('wrong_password', 'You have a password: confirm with it.', { field: 'password' });
      return send(browser, { invitation: null, confirming: { user: id, session, action, since: clock.now() } });
    },

    /** Uses up the confirmation of this action in this session. Throws ApiError `oidc_refused`. */
    async useConfirmation({ id, session }: SignedIn, action: ConfirmedAction) {
      const { internalAdapter } = await (await library()).$context;
      const kept = await internalAdapter.consumeVerificationValue(confirmationOf(session, action));
      if (kept === null || kept.value !== id || kept.expiresAt.getTime() <= clock.now())
        throw oidcRefusal(new OidcError('expired'), settings.name);
    },

    /**
     * With the query of the address that the provider sent the browser to. Throws ApiError `oidc_refused`, with its
     * reason.
     */
    async finish(browser: BrowserRequest, query: string): Promise<Cookies & OidcFinished> {
      let user: UserEvent['user'] = { unlinkedEmail: '' };
      try {
        const { invitation, confirming, ...checks } = await takeBegun(browser, query);
        if (confirming !== null) {
          user = { id: confirming.user };
          return await confirm(browser, query, checks, confirming);
        }
        const person = personOfClaims(settings, await provider.claims(query, checks));
        const id = await signIns.userByIdentity(person.identity);
        user = id === null ? { unlinkedEmail: person.email ?? '' } : { id };
        const admission = await admitted(browser, person, invitation);
        user = { id: admission.user };
        const done = await enter(browser, person, admission);
        await parts.endPreviousSession(browser);
        const forgotten = await forgetState();
        const device = done.secondFactor ? [] : await devices.remember(browser, admission.user);
        return { ...done, confirmed: null, setCookie: [...done.setCookie, ...forgotten, ...device] };
      } catch (error) {
        throw error instanceof OidcError ? refuse(browser, error, user) : error;
      }
    },

    /** Ends the sessions that a logout token names. Throws OidcError. */
    async logout({ ip }: { readonly ip: string }, token: string) {
      const { subject, sid, id } = await provider.logout(token);
      const { count } = await attempts.count(`oidc-logout:${id}`, 2 * LOGOUT_MAX_AGE_MS);
      if (count > 1) throw new OidcError('expired');
      const { issuer } = settings;
      const linked = subject === null ? null : await signIns.userByIdentity({ issuer, subject });
      const mark = oidcMark(issuer, sid);
      const marks = sid === null ? 'all' : [mark, ...(subject === null ? [] : [oidcMark(issuer, null)])];
      for (const user of subject === null ? await signIns.usersByOidcSession(mark) : linked === null ? [] : [linked])
        await signIns.change({ user }, async (change) => {
          const ended = await change.endOidcSessions(marks);
          const by = { kind: 'service', id: null, name: issuer, ip } as const;
          const detail = { factor: 'oidc', others: ended };
          if (ended > 0) await change.record({ by, action: 'user.signed_out', detail });
        });
    },
  };
}

export type OidcService = ReturnType<typeof createOidc>;
