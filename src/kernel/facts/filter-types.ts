export const FILTER_TYPES = ['email', 'domain', 'ip_address', 'mx_host'] as const;
export type FilterType = (typeof FILTER_TYPES)[number];

/** What a filter does with what it matches. */
export const FILTER_ACTIONS = ['block', 'allow'] as const;
export type FilterAction = (typeof FILTER_ACTIONS)[number];

interface FilterActionFacts {
  /** Whether it ends the check: nothing else is looked at, and nothing is charged. */
  readonly blocks: boolean;
  /** Whether one filter may cover everybody. */
  readonly mayCoverAll: boolean;
  /** Whether one that is found later, and is as specific, counts in its place. */
  readonly yields: boolean;
}
export const FILTER_ACTION_FACTS: Readonly<Record<FilterAction, FilterActionFacts>> = {
  block: { blocks: true, mayCoverAll: true, yields: true },
  allow: { blocks: false, mayCoverAll: false, yields: false },
};

/** How the address of a filter is compared: as it is, or by its mailbox. */
export const FILTER_MATCHES = ['exact', 'mailbox'] as const;
export type FilterMatch = (typeof FILTER_MATCHES)[number];
