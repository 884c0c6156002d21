import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import { createMemberService, type MemberService } from './members.ts';
import type { Sessions } from './sign-in/who.ts';

/** What people do in the dashboard, made of one store. */
export interface DashboardServices {
  readonly sessions: Sessions;
  readonly members: MemberService;
}

export function createDashboard(parts: { store: Store; clock: Clock; url: () => string }): DashboardServices {
  return {
    // Nobody, until there is a way to sign in.
    sessions: { who: () => Promise.resolve(null) },
    members: createMemberService({ ...parts, mail: null }),
  };
}
