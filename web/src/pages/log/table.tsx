import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useRouter } from '@tanstack/react-router';
import { Fragment, memo, type ReactNode } from 'react';
import type { LogEntry, RejectedRequest } from '../../api/schema.ts';
import { formatClock, formatDay, formatMs, formatNumber, formatUtc, zoneName } from '../../parts/format.ts';
import { Glyph } from '../../parts/glyph.tsx';
import { BelowAddress, OpenableRow, openHref, RowGroups, RowLink, RowsTable } from '../../parts/rows.tsx';
import lineCss from '../../parts/verdict/verdict-line.module.css';
import { Address, VerdictLine } from '../../parts/verdict/verdict-line.tsx';
import css from './log.module.css';
import { rejectionName } from './rejections.ts';
import { type LogRow, levelText } from './rows.ts';
import type { LogSearch } from './search.ts';

const dayOf = ({ at }: LogRow): string => formatDay(at);

/** Newest first, by day. A row opens as a whole; its link is the address. Columns leave by the width of the table. */
export const LogTable = memo(function LogTable(props: {
  rows: readonly LogRow[];
  search: LogSearch;
  onOpen: (id: string) => void;
}) {
  const { rows, search, onOpen } = props;
  const { open, ...filters } = search;
  const href = openHref(useRouter().buildLocation({ to: '/log', search: filters }).publicHref);
  return (
    <RowsTable label={t`Log`}>
      <thead>
        <tr>
          <th scope="col" className={css.time}>
            <Trans>Time ({zoneName(rows[0]?.at ?? Date.now())})</Trans>
          </th>
          <th scope="col">{t`Address`}</th>
          <th scope="col" className={css.verdict}>{t`Verdict`}</th>
          <th scope="col" className={css.key}>{t`Source`}</th>
          <th scope="col" className={css.level}>{t`Level`}</th>
          <th scope="col" className={`${css.took} ${css.number}`}>{t`Took`}</th>
          <th scope="col" className={`${css.credits} ${css.number}`}>{t`Credits`}</th>
        </tr>
      </thead>
      <RowGroups rows={rows}>
        {(row, i) => (
          <Fragment key={row.id}>
            {(i === 0 || dayOf(rows[i - 1]!) !== dayOf(row)) && (
              <tr className={css.day}>
                <th scope="rowgroup" colSpan={2}>
                  {formatDay(row.at)}
                </th>
                {/* Not spanned: columns that leave would be counted. */}
                {[css.verdict, css.key, css.level, css.took, css.credits].map((column) => (
                  <td key={column} className={column} />
                ))}
              </tr>
            )}
            <Row row={row} isOpen={open === row.id} href={href} onOpen={onOpen} />
          </Fragment>
        )}
      </RowGroups>
    </RowsTable>
  );
});

interface Cells {
  /** Of the link. */
  readonly label: string;
  readonly subject: ReactNode;
  readonly verdict: ReactNode;
  readonly source: string;
  readonly level: string;
  readonly took: string;
  readonly credits: string;
}

const verificationCells = (entry: LogEntry): Cells => ({
  label: entry.email,
  subject: <Address email={entry.email} of={entry} />,
  verdict: <VerdictLine of={entry} />,
  source: entry.list?.name ?? entry.key?.name ?? t`Dashboard`,
  level: levelText(entry),
  took: formatMs(entry.duration_ms),
  credits: formatNumber(entry.credits_used),
});

function rejectedCells(rejected: RejectedRequest): Cells {
  const { request_id, route, count, key } = rejected;
  const subject =
    request_id === null ? plural(count, { one: '# more request', other: '# more requests' }) : (route ?? '');
  const name = request_id === null ? t`Rejected in this minute` : rejectionName(rejected);
  return {
    label: `${subject}: ${name}`,
    subject: <span className={lineCss.address}>{subject}</span>,
    verdict: (
      <span className={lineCss.verdict}>
        <Glyph of="rejected" />
        <span>{name}</span>
      </span>
    ),
    source: request_id === null ? '' : (key?.name ?? t`Dashboard`),
    level: '',
    took: '',
    credits: '',
  };
}

/** Rendered again only when it changes: there may be a thousand. */
const Row = memo(function Row(props: { row: LogRow; isOpen: boolean; href: string; onOpen: (id: string) => void }) {
  const { row, isOpen, href, onOpen } = props;
  const { id, at } = row;
  const cells = row.entry === undefined ? rejectedCells(row.rejected) : verificationCells(row.entry);
  const { label, subject, verdict, source, level, took, credits } = cells;
  return (
    <OpenableRow id={id} isOpen={isOpen} onOpen={() => onOpen(id)}>
      <td className={css.time}>
        <time dateTime={at} title={formatUtc(at)}>
          {formatClock(at)}
        </time>
      </td>
      <td>
        <RowLink href={`${href}${id}`} label={label}>
          {subject}
        </RowLink>
        <BelowAddress>{verdict}</BelowAddress>
      </td>
      <td className={css.verdict}>{verdict}</td>
      <td className={css.key}>{source}</td>
      <td className={css.level}>{level}</td>
      <td className={`${css.took} ${css.number}`}>{took}</td>
      <td className={`${css.credits} ${css.number}`}>{credits}</td>
    </OpenableRow>
  );
});
