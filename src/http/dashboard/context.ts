import type { Sessions } from '../../service/sign-in/who.ts';
import type { HttpContext } from '../context.ts';

/** What the dashboard's handlers work with; made once, in main.ts. Each service is added by who writes it. */
export interface DashboardContext extends HttpContext {
  readonly sessions: Sessions;
}
