import { INVITATION_DAYS } from '../api/limits.ts';
import type { Invited } from '../api/schema.ts';
import { pluralize } from './format.ts';

const VALIDITY = `The link works once and expires in ${pluralize(INVITATION_DAYS, 'day')}.`;

/** What became of an invitation. */
export function invitationOutcome({ mailed, link }: Invited, email: string): string {
  if (mailed) return `Invitation sent to ${email}. ${VALIDITY}`;
  if (link === null) return `The email to ${email} could not be sent. Try again later.`;
  return `No email was sent. Share this link with ${email} yourself; it is not shown again. ${VALIDITY}`;
}
