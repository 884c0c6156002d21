import type { Clock } from '../../kernel/clock.ts';
import type { SecurityChange } from '../../kernel/jobs.ts';
import type { UserChange } from '../../store/store.ts';
import { deviceName } from './devices.ts';
import type { BrowserRequest } from './library-calls.ts';

/** Where a change is made; both null: on the command line. */
export interface ChangeSource {
  readonly ip: string | null;
  readonly device: string | null;
}
export const COMMAND_LINE: ChangeSource = { ip: null, device: null };

export const sourceOf = ({ ip, userAgent }: BrowserRequest): ChangeSource => ({
  ip,
  device: deviceName(userAgent) ?? 'Unknown device',
});

/**
 * Mails the user about a change of how they sign in, by a job in the transaction of the change. Does nothing if this
 * service cannot send mail. `removedPasskeys`: how many the change removed with it.
 */
export type NotifyUser = (
  change: UserChange,
  what: SecurityChange,
  from: ChangeSource,
  removedPasskeys?: number,
) => Promise<void>;

export function createNotifyUser(parts: { mail: boolean; clock: Clock; url: () => string }): NotifyUser {
  const { mail, clock, url } = parts;
  return async (change, what, { ip, device }, removedPasskeys = 0) => {
    if (!mail) return;
    const to = change.user.email;
    const link = `${url()}/sign-in#forgot`;
    const at = clock.now();
    await change.mail({ template: 'security_change', to, change: what, removedPasskeys, at, ip, device, link });
  };
}
