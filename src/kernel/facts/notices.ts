/** What the dashboard points out to a member until the cause is over, or the member dismisses it. */
export const KEY_NOTICES = ['never_used', 'idle', 'open_to_all', 'budget_spent'] as const;
export type KeyNotice = (typeof KEY_NOTICES)[number];

export const NOTICES = [...KEY_NOTICES, 'failed_lists', 'first_steps'] as const;
export type Notice = (typeof NOTICES)[number];
