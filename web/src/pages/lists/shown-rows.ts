import { t } from '@lingui/core/macro';
import { given } from '../../../../src/kernel/facts/given.ts';
import type { RowKind } from '../../../../src/kernel/facts/lists.ts';
import type { ListHere } from '../../api/schema.ts';
import { SEGMENT_LABELS } from '../../parts/chart/bars.ts';
import { reasonName } from '../../parts/verdict/outcome.ts';
import type { ListSearch } from './search.ts';

/** Verified addresses that the rows shown would have. */
export function countOf(
  { progress, deliverability, by_reason }: ListHere,
  { verdict, reason, kind }: ListSearch,
): number {
  if (verdict !== undefined) return deliverability[verdict];
  if (reason !== undefined) return by_reason[reason] ?? 0;
  return kind === undefined || kind === 'address' ? progress.done : 0;
}

const KIND_TITLES: Readonly<Record<RowKind, string>> = {
  address: t`First rows of an address`,
  duplicate: t`Duplicates`,
  blank: t`Blank rows`,
  unreadable: t`Broken rows`,
};

export function titleOf({ verdict, reason, kind }: ListSearch): string {
  if (verdict !== undefined) return SEGMENT_LABELS[verdict];
  if (reason !== undefined) return reasonName(reason);
  return kind === undefined ? t`All rows` : KIND_TITLES[kind];
}

/** What the results are searched for, so that they are the rows shown. Null: for nothing, or by what results lack. */
export function shownFilter({ verdict, reason, kind, query }: ListSearch): Readonly<Record<string, string>> | null {
  const filter = given({ deliverability: verdict, reason, query });
  return kind !== undefined || Object.keys(filter).length === 0 ? null : filter;
}

export const resultsHref = (account: string, list: string, query: Readonly<Record<string, string>>): string =>
  `/dashboard/accounts/${encodeURIComponent(account)}/lists/${encodeURIComponent(list)}/results?${new URLSearchParams(query)}`;
