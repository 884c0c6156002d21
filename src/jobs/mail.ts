import type { Mail } from '../service/mail.ts';
import type { JobRunner } from './runner.ts';

/** Sends a mail from the template and the variables in its payload. */
export function mailJob(mail: Pick<Mail, 'invitation' | 'lowBalance'>): JobRunner<'mail'> {
  return async ({ id, payload }) => {
    switch (payload.template) {
      case 'invitation':
        await mail.invitation(payload, id);
        return undefined;
      case 'low_balance':
        await mail.lowBalance(payload, id);
        return undefined;
    }
  };
}
