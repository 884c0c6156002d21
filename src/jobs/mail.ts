import type { Mail } from '../service/mail.ts';
import type { MailLimits } from '../service/mail-limits.ts';
import type { JobRunner } from './runner.ts';

/**
 * Sends a mail from the template and the variables in its payload; none for an account that has been suspended or
 * deleted since it was queued.
 */
export function mailJob(
  mail: Pick<Mail, 'invitation' | 'lowBalance' | 'webhookDisabled' | 'securityChange'>,
  limits: Pick<MailLimits, 'admit' | 'accountMaySend'>,
): JobRunner<'mail'> {
  return async ({ id, payload, account, attempt }) => {
    const { template, to } = payload;
    if (account !== null && !(await limits.accountMaySend(template, account))) return undefined;
    switch (template) {
      case 'invitation':
        await mail.invitation(payload, id);
        return undefined;
      case 'low_balance':
        // Counted here, because the accounts are many and found in one transaction; once, though it may be retried.
        if (attempt === 1 && (await limits.admit(template, to, account ?? '')) !== null) return undefined;
        await mail.lowBalance(payload, id);
        return undefined;
      case 'webhook_disabled':
        if (attempt === 1 && (await limits.admit(template, to, account ?? '')) !== null) return undefined;
        await mail.webhookDisabled(payload, id);
        return undefined;
      case 'security_change':
        // Only counted.
        if (attempt === 1) await limits.admit(template, to, '');
        await mail.securityChange(payload, id);
        return undefined;
    }
  };
}
