import type { SessionRecord, Store } from '../../store/store.ts';
import { deviceName } from './device-name.ts';
import type { Library } from './library.ts';
import type { BrowserRequest } from './library-calls.ts';
import type { SignedIn } from './session.ts';
import { endLinks } from './user-admin.ts';
import type { UserAudit } from './user-audit.ts';

/** A session as its user sees it. */
export interface UserSession {
  readonly id: string;
  /** Such as `Firefox on Linux`: what the browser claims. */
  readonly device: string;
  /** Where it was last seen; null: unknown. */
  readonly ip: string | null;
  readonly createdAt: number;
  readonly lastSeenAt: number;
}

export const toUserSession = ({ userAgent, ...session }: SessionRecord): UserSession => ({
  ...session,
  device: deviceName(userAgent) ?? 'Unknown device',
});

export interface SessionList {
  /** Those of the user, the one seen last first; at most SESSIONS_LISTED. */
  sessionsOf(user: SignedIn): Promise<(UserSession & { readonly current: boolean })[]>;
  /** False: the user has no such session. */
  revokeSession(browser: BrowserRequest, user: SignedIn, id: string): Promise<boolean>;
  /** Ends the user's sessions but this one, password links, and sign-ins awaiting a second factor; returns how many. */
  endOtherSessions(browser: BrowserRequest, user: SignedIn): Promise<number>;
}

export function createSessionList(parts: {
  store: Pick<Store, 'signIns'>;
  library: () => Promise<Library>;
  audit: Pick<UserAudit, 'record'>;
}): SessionList {
  const { library, audit } = parts;
  const { signIns } = parts.store;
  return {
    async sessionsOf(user) {
      const all = await signIns.sessions(user.id);
      return all.map((one) => ({ ...toUserSession(one), current: one.id === user.session }));
    },
    revokeSession: (browser, user, id) =>
      signIns.change({ user: user.id, session: user.session }, async (change) => {
        if (!(await change.endSession(id))) return false;
        await audit.record(change, browser, 'user.signed_out', id === user.session ? {} : { others: 1 });
        return true;
      }),
    async endOtherSessions(browser, user) {
      const opened = await library();
      return signIns.change({ user: user.id, session: user.session }, async (change) => {
        await endLinks(opened, user.id);
        const ended = await change.endSessions([user.session]);
        if (ended > 0) await audit.record(change, browser, 'user.signed_out', { others: ended });
        return ended;
      });
    },
  };
}
