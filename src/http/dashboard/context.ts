import type { DashboardServices } from '../../service/dashboard.ts';
import type { SignInService } from '../../service/sign-in/service.ts';
import type { HttpContext } from '../context.ts';

/** What the dashboard's handlers work with; made once, in main.ts. */
export interface DashboardContext extends HttpContext, DashboardServices {
  readonly signIn: SignInService;
}
