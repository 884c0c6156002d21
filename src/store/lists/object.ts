import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import { DEFAULT_DEDUPE } from '../../kernel/facts/lists.ts';
import type { List } from '../store.ts';

/** Returns a list as the API shows it and events have it. */
export function listObject(list: List) {
  const { rows, done, waiting, breakdown, perSecond, credits } = list;
  const left = rows.addresses - done;
  // How the next attempts end is not known, and when they are made depends on mail servers.
  const onlyWaits = waiting > 0 && waiting === left;
  return {
    id: list.id,
    name: list.name,
    status: list.status,
    validation_type: list.level,
    policy: list.policy?.name ?? null,
    dedupe: list.layout.dedupe ?? DEFAULT_DEDUPE,
    rows,
    progress: {
      done,
      waiting,
      good: breakdown.status.good,
      bad: breakdown.status.bad,
      percent: rows.addresses === 0 ? 100 : Math.floor((done / rows.addresses) * 1000) / 10,
      per_second: perSecond === null ? null : Math.round(perSecond * 10) / 10,
      eta_seconds: perSecond === null || onlyWaits ? null : Math.ceil(left / perSecond),
    },
    deliverability: breakdown.deliverability,
    by_reason: { ...breakdown.reason },
    credits,
    read: listRead(list),
    warnings: [...(list.summary?.warnings ?? [])],
    error: list.error,
    retry_minutes: list.retryMinutes,
    patience_minutes: list.retryMinutes,
    created_at: toIso(list.createdAt),
    started_at: toIsoOrNull(list.startedAt),
    finished_at: toIsoOrNull(list.finishedAt),
    expires_at: toIso(list.expiresAt),
  };
}

/** How its file was read; null where a version before did not keep it. */
function listRead({ layout, summary }: List) {
  const { columns, addressColumn, addressColumns = [addressColumn] } = layout;
  const nameOf = (column: number) => columns[column] ?? '';
  return {
    format: layout.format ?? null,
    delimiter: layout.delimiter ?? null,
    encoding: layout.encoding ?? null,
    sheet: layout.sheet ?? null,
    entry: layout.entry ?? null,
    header_row: layout.headerRow ?? null,
    column: nameOf(addressColumn),
    columns: addressColumns.map(nameOf),
    other_address_columns: [...(summary?.otherAddressColumns ?? [])],
    addresses_per_row: {
      max: summary?.addressesPerRow.max ?? null,
      rows_with_several: summary?.addressesPerRow.rowsWithSeveral ?? null,
    },
  };
}
