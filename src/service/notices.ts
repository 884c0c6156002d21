/** What the dashboard points out to a member, and what the member has dismissed. */
import { type Clock, DAY_MS } from '../kernel/clock.ts';
import { OVERVIEW_LISTS, RECENT_DAYS } from '../kernel/facts/limits.ts';
import type { KeyNotice, Notice } from '../kernel/facts/notices.ts';
import type { Account, AccountId, Key, List, Store } from '../store/store.ts';
import { lastExamination } from './kept-examination.ts';
import { isOpenToAll, isUsable, noticesOf } from './keys.ts';

/** What a member has dismissed: causes of notices. */
export type Dismissed = ReadonlySet<string>;

type NoticeStore = Pick<Store, 'dismissals' | 'keys' | 'lists'>;

const failedCause = ({ id }: List): string => `failed_lists ${id}`;
const FIRST_STEPS = 'first_steps';

/** All methods throw ApiError. */
export function createNoticeService(store: NoticeStore, clock: Clock) {
  const causesOfKeys = (of: KeyNotice) => async (account: AccountId) => {
    const now = clock.now();
    const found = (await store.keys.list(account)).flatMap((key) => noticesOf(key, now));
    return found.filter(({ notice }) => notice === of).map(({ cause }) => cause);
  };
  const causes = {
    never_used: causesOfKeys('never_used'),
    idle: causesOfKeys('idle'),
    open_to_all: causesOfKeys('open_to_all'),
    budget_spent: causesOfKeys('budget_spent'),
    failed_lists: async (account) => (await failedLists(store, clock, account)).map(failedCause),
    first_steps: () => Promise.resolve([FIRST_STEPS]),
  } satisfies Record<Notice, (account: AccountId) => Promise<string[]>>;
  return {
    dismissed: (account: AccountId, user: string) => store.dismissals.list(account, user),
    /** Hides the notice from the user, until there is another cause for it. */
    dismiss: async (account: AccountId, user: string, notice: Notice) =>
      store.dismissals.add(account, user, await causes[notice](account)),
  };
}

/** Those that were made last, of those that failed in the last days. */
export async function failedLists({ lists }: Pick<Store, 'lists'>, clock: Clock, account: AccountId): Promise<List[]> {
  const page = { query: null, offset: 0, limit: OVERVIEW_LISTS };
  const { items } = await lists.list(account, { ...page, status: 'failed' });
  const from = clock.now() - RECENT_DAYS * DAY_MS;
  return items.filter(({ finishedAt }) => finishedAt !== null && finishedAt >= from);
}

export const isShown =
  (dismissed: Dismissed) =>
  ({ cause }: { readonly cause: string }): boolean =>
    !dismissed.has(cause);

export const shownFailures = (lists: readonly List[], dismissed: Dismissed): List[] =>
  lists.filter((list) => !dismissed.has(failedCause(list)));

/**
 * What the first hour with an account is for: whether each is done. `doctor`: null for those who do not run the
 * service.
 */
interface FirstSteps {
  readonly key: boolean;
  readonly call: boolean;
  readonly allowlist: boolean;
  readonly member: boolean;
  readonly alert: boolean;
  readonly doctor: boolean | null;
}

/** Null: all are done, the user has dismissed them, or it is a test account. */
export async function firstStepsOf(
  store: Pick<Store, 'members' | 'alerts' | 'sharedFiles'>,
  { account, keys, now }: { readonly account: Account; readonly keys: readonly Key[]; readonly now: number },
  { operator, dismissed }: { readonly operator: boolean; readonly dismissed: Dismissed },
): Promise<FirstSteps | null> {
  if (account.testOf !== null || dismissed.has(FIRST_STEPS)) return null;
  const usable = keys.filter((key) => isUsable(key, now));
  const [members, isAlertSet, examined] = await Promise.all([
    store.members.list(account.id),
    store.alerts.isSet(account.id),
    operator ? lastExamination(store) : null,
  ]);
  const steps: FirstSteps = {
    key: usable.length > 0,
    call: keys.some(({ lastUsedAt }) => lastUsedAt !== null),
    allowlist: usable.some((key) => !isOpenToAll(key)),
    member: members.length > 1,
    alert: isAlertSet || account.lowBalance !== null,
    doctor: operator ? examined?.findings.every(({ result }) => result !== 'fail') === true : null,
  };
  return Object.values(steps).every((done) => done !== false) ? null : steps;
}
