/** Lifetimes of what clients and dashboard users are given. */

/** How long a reply is stored for its Idempotency-Key. */
export const IDEMPOTENCY_HOURS = 24;
/** A session expires this long after its last use. */
export const SESSION_DAYS = 7;
/** How often its use, and where from, is recorded, so that most requests only read. */
export const SESSION_REFRESH_MINUTES = 60;
/** A session ends this long after the sign-in, used or not. */
export const SESSION_MAX_DAYS = 30;
/** How long a device is recognized after a sign-in. It then has rate limits of its own; this is not a session. */
export const DEVICE_DAYS = 365;
/** Maximum age of the sign-in to add a passkey. */
export const FRESH_SIGN_IN_DAYS = 1;
export const INVITATION_DAYS = 7;
/** An account may send so many: every invitation sends mail to an arbitrary address. */
export const INVITATIONS_PER_HOUR = 30;
/** How long browsers use HTTPS only, where the public address is HTTPS (RFC 6797). */
export const HSTS_SECONDS = 365 * 86_400;
/** The setup link of the first start works for this long. */
export const SETUP_LINK_HOURS = 1;
/** A link to choose a password: mailed, or created on the command line. */
export const RESET_LINK_HOURS = 1;
export const COMMAND_RESET_LINK_HOURS = 24;
/** A sign-in link that was created on the command line works for this long. */
export const SIGN_IN_LINK_MINUTES = 15;
/** How long a sign-in with the OpenID provider may take; and the code that is asked after it. */
export const OIDC_MINUTES = 10;
/** How long a confirmation by the OpenID provider can be used. */
export const OIDC_CONFIRMATION_MINUTES = 5;
/** The link that verifies the address of a sign-up. */
export const SIGNUP_LINK_HOURS = 24;
/** An upload that adds nothing for so long is removed. */
export const LIST_UPLOAD_MINUTES = 60;
/** How long the credits of a list stay held that nobody works on, such as a paused one: until it expires. */
export const LIST_HOLD_DAYS = 36_500;
/** After a rotation, the old secrets of a webhook sign alongside the new one for this long. */
export const WEBHOOK_SECRET_OVERLAP_HOURS = 24;
/** A delivery that fails is attempted again after each of these times, s. */
export const WEBHOOK_RETRY_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;
/** A webhook is disabled when all its attempts have failed for this long. */
export const WEBHOOK_FAILING_DAYS = 5;
/** How long a process that has stopped keeps the work on lists that it had claimed. */
export const LIST_LEASE_SECONDS = 30;
/** How long a process that has stopped keeps its part of the pace at mail servers. */
export const PACE_SLICE_SECONDS = 6;
