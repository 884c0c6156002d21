import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/log.ts';
import type { Membership, Store } from '../../store/store.ts';
import type { Mail } from '../mail.ts';
import type { MailLimits } from '../mail-limits.ts';
import { type ConfirmUser, createConfirmation } from './confirmation.ts';
import { createDevices } from './devices.ts';
import { createInvitations, type InvitationService } from './invitations.ts';
import type { BrowserRequest } from './library-calls.ts';
import { relyingParty } from './library-calls.ts';
import { createLimits } from './limits.ts';
import { createNotifyUser } from './notices.ts';
import { lazyLibrary } from './open.ts';
import { createPasskeys, type PasskeyService } from './passkeys.ts';
import { createPasswords, type PasswordService } from './password-change.ts';
import { createSecondFactor, type SecondFactorService } from './second-factor.ts';
import type { SignedIn } from './session.ts';
import { createSessionList, createSessions, type SessionList, type SessionService } from './sessions.ts';

import { createSetup, type SetupService } from './setup.ts';
import { type CheckDeliverability, createSignUp, type SignUpService } from './sign-up.ts';
import { createUserAdmin, newToken } from './user-admin.ts';
import { createUserAudit, type UserAudit } from './user-audit.ts';

export type { BrowserRequest } from './library-calls.ts';

/**
 * Authentication. The library (better-auth) manages users, passwords, second factors and sessions; roles, invitations
 * and the audit log are ours. All methods throw ApiError.
 */
export interface SignInService extends SessionService, SessionList, SecondFactorService, SignUpService {
  readonly setup: SetupService;
  readonly passwords: PasswordService;
  readonly passkeys: PasskeyService;
  readonly invitations: InvitationService;
  readonly confirm: ConfirmUser;
  /** Oldest account first. */
  accountsOf(user: SignedIn): Promise<Membership[]>;
  /** Whether sign-up is open, and whether mail can be sent. */
  readonly offers: { readonly signup: boolean; readonly mail: boolean };
  /** Failed attempts that are still to be written. */
  readonly failures: Pick<UserAudit, 'flush'>;
}

interface SignInParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Public URL, without a trailing slash. */
  readonly url: () => string;
  /** Signs cookies; null: use the store's own secret. */
  readonly secret: string | null;
  readonly mail: Mail | null;
  readonly mailLimits: MailLimits;
  /** Null: sign-up is closed. */
  readonly signup: { readonly credits: number } | null;
  readonly checkDeliverability: CheckDeliverability;
}

export function createSignIn(parts: SignInParts): SignInService {
  const { store, clock, url, mail, mailLimits, signup, checkDeliverability } = parts;
  const library = lazyLibrary(parts);
  const limits = createLimits({ attempts: store.attempts, clock });
  const notify = createNotifyUser({ mail: mail !== null, clock, url });
  const userAdmin = createUserAdmin({ store, library, clock, notify });
  const devices = createDevices({ library, users: store.users, newId: newToken });
  const audit = createUserAudit(store.auditLog, clock);
  const sessions = createSessions({ library, limits, devices, audit, signIns: store.signIns, clock });
  const passwords = createPasswords({
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
  });
  const openSignUp = signup !== null && mail !== null ? { mail, credits: signup.credits } : null;
  const endPreviousSession = async (browser: BrowserRequest) => void (await sessions.endSession(browser));
  const passkeys = createPasskeys({
    store,
    library,
    limits,
    devices,
    audit,
    notify,
    relyingParty: () => relyingParty(url()),
    endPreviousSession,
  });
  return {
    ...sessions,
    ...createSessionList({ store, library, audit }),
    ...createSecondFactor({ store, library, limits, devices, audit, notify, confirm: passwords.confirm }),
    ...createSignUp({
      store,
      library,
      limits,
      mailLimits,
      userAdmin,
      sessions,
      checkDeliverability,
      openSignUp,
      clock,
      url,
    }),
    setup: createSetup({ store, library, limits, userAdmin, sessions, clock }),
    passwords,
    passkeys,
    confirm: createConfirmation({ library, limits, devices, audit, passwords, passkeys }),
    invitations: createInvitations({ store, library, limits, userAdmin, sessions }),
    accountsOf: (user) => store.members.ofUser(user.id),
    failures: audit,
    offers: { signup: openSignUp !== null, mail: mail !== null },
  };
}
