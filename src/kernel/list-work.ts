/** Bounds of the work on lists, of one process. */

/** Addresses that were claimed and are not done, of all lists and of one. */
export const LIST_ADDRESSES_IN_HAND = 24_000;
export const LIST_ADDRESSES_IN_HAND_EACH = 5_000;
/** Lists that are worked on at the same time; others take turns with them. */
export const LISTS_AT_ONCE = 40;
/** Domains that are looked up, and mailboxes that are checked, at the same time. */
export const LIST_LOOKUPS = 128;
export const LIST_CHECKS = 2_000;
/** Mail operators of other nodes that are remembered, and the longest name of one. */
export const LIST_OPERATORS_OF_OTHERS = 1_000;
export const LIST_OPERATOR_LENGTH = 200;
/** Outcomes in one transaction: while nobody else charges, and while single calls wait for its end. */
export const LIST_OUTCOMES = { alone: 1_000, besideCalls: 100 };
/** Outcomes that wait to be recorded before no more addresses are judged from memory. */
export const LIST_OUTCOMES_WAITING = 1_000;
