import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { memo, useCallback } from 'react';
import type { ListRowsHere } from '../../api/schema.ts';
import { formatNumber } from '../../parts/format.ts';
import { BelowAddress, OpenableRow, openHref, RowGroups, RowLink, RowsTable } from '../../parts/rows.tsx';
import { escapeInvisible } from '../../parts/verdict/escape-invisible.ts';
import { Address, VerdictLine } from '../../parts/verdict/verdict-line.tsx';
import css from './list.module.css';
import type { ListSearch } from './search.ts';

const route = getRouteApi('/inside/lists/$id');

type Row = ListRowsHere['rows'][number];

/** A row opens as a whole; its link is the address. Where it is narrow, the verdict stands below. */
export const RowTable = memo(function RowTable(props: {
  list: string;
  /** Whether the list has ended: what has no verdict gets none. */
  isOver: boolean;
  rows: readonly Row[];
  search: ListSearch;
}) {
  const { list, isOver, rows, search } = props;
  const { open, ...filters } = search;
  const navigate = route.useNavigate();
  const page = { to: '/lists/$id', params: { id: list } } as const;
  const href = openHref(useRouter().buildLocation({ ...page, search: filters }).publicHref);
  const onOpen = useCallback(
    (open: string) => void navigate({ search: (now: ListSearch) => ({ ...now, open }), resetScroll: false }),
    [navigate],
  );
  return (
    <RowsTable label={t`Rows`}>
      <thead>
        <tr>
          <th scope="col" className={css.number}>{t`Row`}</th>
          <th scope="col">{t`Address`}</th>
          <th scope="col" className={css.verdict}>{t`Verdict`}</th>
          <th scope="col" className={css.credits}>{t`Credits`}</th>
        </tr>
      </thead>
      <RowGroups rows={rows}>
        {(row) => (
          <RowLine
            key={`${row.row} ${row.part ?? ''}`}
            row={row}
            isOver={isOver}
            isOpen={row.verification_id === (open ?? null) && row.kind !== 'duplicate'}
            href={href}
            onOpen={onOpen}
          />
        )}
      </RowGroups>
    </RowsTable>
  );
});

/** Rendered again only when it changes: there may be a thousand. */
const RowLine = memo(function RowLine(props: {
  row: Row;
  isOver: boolean;
  isOpen: boolean;
  href: string;
  onOpen: (id: string) => void;
}) {
  const { row, isOver, isOpen, href, onOpen } = props;
  const { verification_id: id, kind } = row;
  const judged = judgedOf(row);
  return (
    <OpenableRow
      id={kind === 'duplicate' ? null : id}
      isOpen={isOpen && id !== null}
      onOpen={id === null ? null : () => onOpen(id)}
    >
      <td className={css.number}>
        {formatNumber(row.row)}
        {row.part !== null && <span className={css.mark}>{t`${row.part} of ${row.parts ?? ''}`}</span>}
      </td>
      <td>
        {judged === null || id === null ? (
          <span className="mono">{row.email}</span>
        ) : (
          <RowLink href={`${href}${id}`} label={row.email ?? ''}>
            <Address email={row.email ?? ''} of={judged} />
          </RowLink>
        )}
        {kind === 'duplicate' && <span className={css.mark}>{t`duplicate`}</span>}
        {row.column !== null && <span className={css.mark}>{escapeInvisible(row.column)}</span>}
        {row.did_you_mean !== null && (
          <span className={css.suggestion}>
            <Trans>
              Did you mean <b className="mono">{escapeInvisible(row.did_you_mean)}</b>?
            </Trans>
          </span>
        )}
        <BelowAddress>
          <RowVerdict of={row} isOver={isOver} />
        </BelowAddress>
      </td>
      <td className={css.verdict}>
        <RowVerdict of={row} isOver={isOver} />
      </td>
      <td className={css.credits}>{row.credits_used === null ? '–' : formatNumber(row.credits_used)}</td>
    </OpenableRow>
  );
});

function RowVerdict({ of, isOver }: { of: Row; isOver: boolean }) {
  const judged = judgedOf(of);
  if (judged !== null) return <VerdictLine of={judged} />;
  if (of.problem !== null)
    return (
      <span className="dim">
        <Trans>
          Line {formatNumber(of.problem.line)}: {of.problem.error}
        </Trans>
      </span>
    );
  return <span className="dim">{of.kind === 'blank' ? t`Blank` : isOver ? t`Not verified` : t`Not verified yet`}</span>;
}

/** Null: it has no verdict. */
function judgedOf({ status, deliverability, reason, validation_type }: Row) {
  if (status === null || deliverability === null || validation_type === null) return null;
  return { status, deliverability, reason, validation_type };
}
