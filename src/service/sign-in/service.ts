import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/log.ts';
import type { Membership, Store } from '../../store/store.ts';
import type { Mail } from '../mail.ts';
import type { Visitor } from './calls.ts';
import { createInvitations, type InvitationService } from './invitations.ts';
import { createLater } from './later.ts';
import { createLimits } from './limits.ts';
import { lazyLibrary } from './open.ts';
import { createPasskeys, type PasskeyService } from './passkeys.ts';
import { createPasswords, type PasswordService } from './password-change.ts';
import { createPeople } from './people.ts';
import { relyingParty } from './relying-party.ts';
import { createSecondFactor, type SecondFactorService } from './second-factor.ts';
import { createSessions, type SessionService } from './sessions.ts';
import { createSetup, type SetupService } from './setup.ts';
import { createSignUp, type JudgeAddress, type SignUpService } from './sign-up.ts';
import type { SignedIn } from './who.ts';

export type { Visitor } from './calls.ts';
export type { Passkey } from './passkeys.ts';

/**
 * Which user is this, and how they prove it. The library (better-auth) keeps users, passwords, second factors and
 * sessions; roles, invitations and the audit log are ours. Refusals are thrown, in the words of the catalogue.
 */
export interface SignInService extends SessionService, SecondFactorService, SignUpService {
  readonly setup: SetupService;
  readonly passwords: PasswordService;
  readonly passkeys: PasskeyService;
  readonly invitations: InvitationService;
  /** Oldest account first. */
  accountsOf(user: SignedIn): Promise<Membership[]>;
  /** Whether strangers may sign up, and whether mail can be sent. */
  readonly offers: { readonly signup: boolean; readonly mail: boolean };
  /** Waits for mails that are under way. */
  settled(): Promise<void>;
}

export interface SignInParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Public address, without a slash at its end. */
  readonly url: () => string;
  /** Signs cookies; null: the store's own. */
  readonly secret: string | null;
  readonly mail: Mail | null;
  /** Null: strangers may not sign up. */
  readonly signup: { readonly credits: number } | null;
  readonly judge: JudgeAddress;
}

export function createSignIn(parts: SignInParts): SignInService {
  const { store, clock, logger, url, mail, signup, judge } = parts;
  const library = lazyLibrary(parts);
  const limits = createLimits({ attempts: store.attempts, clock });
  const later = createLater(logger);
  const people = createPeople({ store, library, clock });
  const sessions = createSessions({ library, limits });
  const open = signup !== null && mail !== null ? { mail, credits: signup.credits } : null;
  const endOld = async (visitor: Visitor) => void (await sessions.signOut(visitor));
  return {
    ...sessions,
    ...createSecondFactor({ library, limits }),
    ...createSignUp({ store, library, limits, people, sessions, judge, open, clock, url, later }),
    setup: createSetup({ store, library, limits, people, sessions, clock }),
    passwords: createPasswords({ library, limits, people, store, url, mail, later }),
    passkeys: createPasskeys({ library, limits, relyingParty: () => relyingParty(url()), endOld }),
    invitations: createInvitations({ store, library, limits, people, sessions }),
    accountsOf: (user) => store.members.ofUser(user.id),
    offers: { signup: open !== null, mail: mail !== null },
    settled: () => later.settled(),
  };
}
