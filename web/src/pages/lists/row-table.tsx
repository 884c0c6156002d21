import { Link } from '@tanstack/react-router';
import type { ListHere, ListRowsHere } from '../../api/schema.ts';
import { formatNumber } from '../../parts/format.ts';
import { BelowAddress, OpenableRow, RowsTable } from '../../parts/rows.tsx';
import { Address, VerdictLine } from '../../parts/verdict/verdict-line.tsx';
import css from './list.module.css';
import type { ListSearch } from './search.ts';

type Row = ListRowsHere['rows'][number];

/** A row opens as a whole; its link is the address. Where it is narrow, the verdict stands below. */
export function RowTable(props: {
  of: ListHere;
  rows: readonly Row[];
  search: ListSearch;
  onSearch: (search: ListSearch) => void;
}) {
  const { of, rows, search, onSearch } = props;
  return (
    <RowsTable label="Rows">
      <thead>
        <tr>
          <th scope="col" className={css.number}>
            Row
          </th>
          <th scope="col">Address</th>
          <th scope="col" className={css.verdict}>
            Verdict
          </th>
          <th scope="col" className={css.credits}>
            Credits
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <RowLine key={row.row} of={of} row={row} search={search} onSearch={onSearch} />
        ))}
      </tbody>
    </RowsTable>
  );
}

function RowLine(props: { of: ListHere; row: Row; search: ListSearch; onSearch: (search: ListSearch) => void }) {
  const { of, row, search, onSearch } = props;
  const { verification_id: id, kind } = row;
  const judged = judgedOf(row);
  const isOpen = id !== null && search.open === id && kind !== 'duplicate';
  return (
    <OpenableRow
      id={kind === 'duplicate' ? null : id}
      isOpen={isOpen}
      onOpen={id === null ? null : () => onSearch({ ...search, open: id })}
    >
      <td className={css.number}>{formatNumber(row.row)}</td>
      <td>
        {judged === null || id === null ? (
          <span className="mono">{row.email}</span>
        ) : (
          <Link
            to="/lists/$id"
            params={{ id: of.id }}
            search={{ ...search, open: id }}
            resetScroll={false}
            aria-label={row.email ?? ''}
          >
            <Address email={row.email ?? ''} of={judged} />
          </Link>
        )}
        {kind === 'duplicate' && <span className={css.mark}>duplicate</span>}
        <BelowAddress>
          <RowVerdict of={row} />
        </BelowAddress>
      </td>
      <td className={css.verdict}>
        <RowVerdict of={row} />
      </td>
      <td className={css.credits}>{row.credits_used === null ? '–' : formatNumber(row.credits_used)}</td>
    </OpenableRow>
  );
}

function RowVerdict({ of }: { of: Row }) {
  const judged = judgedOf(of);
  if (judged !== null) return <VerdictLine of={judged} />;
  if (of.problem !== null)
    return (
      <span className="dim">
        Line {formatNumber(of.problem.line)}: {of.problem.error}
      </span>
    );
  return <span className="dim">{of.kind === 'blank' ? 'Blank' : 'Not verified yet'}</span>;
}

/** Null: it has no verdict. */
function judgedOf({ status, deliverability, reason, validation_type }: Row) {
  if (status === null || deliverability === null || validation_type === null) return null;
  return { status, deliverability, reason, validation_type };
}
