import type { Transaction } from 'kysely';
import type { MailPayload } from '../../kernel/jobs.ts';
import type { TransactionDriver } from '../driver.ts';
import type { Tables } from '../tables.ts';

/** Adds the mails to the account's owners and admins; `mailTo` returns null for none. */
export async function mailAdmins(
  driver: Pick<TransactionDriver, 'jobs'>,
  trx: Transaction<Tables>,
  account: string,
  mailTo: (to: string) => MailPayload | null,
): Promise<void> {
  const people = trx.selectFrom('members as m').innerJoin('auth_users as u', 'u.id', 'm.user_id').select('u.email');
  const recipients = people.where('m.account_id', '=', account).where('m.role', '<>', 'member').orderBy('u.email');
  for (const { email } of await recipients.execute()) {
    const payload = mailTo(email);
    if (payload !== null) await driver.jobs.add(trx, { kind: 'mail', payload, account });
  }
}
