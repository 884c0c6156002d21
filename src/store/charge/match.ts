/** Finds the account's filter that matches a request: email before domain before IP, the most specific first. */
import type { FilterType } from '../../kernel/facts/filter-types.ts';
import { cidrsContaining } from '../../kernel/ip.ts';
import type { Filter, FilterKeys } from '../store.ts';
import type { AccountState, ChargeState } from './state.ts';

/** The look-ups to make, in order of precedence; none for types of which the account has no filter. */
export function* candidates(
  account: Pick<AccountState, 'filterEmails' | 'filterDomains' | 'filterIps'>,
  keys: FilterKeys,
): Generator<readonly [FilterType, string]> {
  if (account.filterEmails > 0 && keys.email !== null) yield ['email', keys.email];
  if (account.filterDomains > 0) for (const domain of keys.domains) yield ['domain', domain];
  if (account.filterIps > 0 && keys.ip !== null) for (const ip of cidrsContaining(keys.ip)) yield ['ip_address', ip];
}

export function matchFilter(state: ChargeState, account: AccountState, keys: FilterKeys): Filter | null {
  for (const [type, value] of candidates(account, keys)) {
    const filter = state.filter(account.id, type, value);
    if (filter !== null) return filter;
  }
  return null;
}
