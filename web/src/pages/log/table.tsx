import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import type { LogEntry } from '../../api/schema.ts';
import { formatClock, formatDateTime, formatDay, formatNumber } from '../../parts/format.ts';
import { Address, VerdictLine } from '../../parts/verdict/verdict-line.tsx';
import css from './log.module.css';
import type { LogSearch } from './search.ts';

const dayOf = ({ created_at }: LogEntry): string => created_at.slice(0, 10);

/** Newest first, by day. A row opens as a whole; its link is the address. Columns leave by the width of the table. */
export function LogTable(props: { entries: readonly LogEntry[]; search: LogSearch; onOpen: (id: string) => void }) {
  const { entries, search, onOpen } = props;
  return (
    <table className={css.table} aria-label="Verifications">
      <thead>
        <tr>
          <th scope="col" className={css.time}>
            Time (UTC)
          </th>
          <th scope="col">Address</th>
          <th scope="col" className={css.verdict}>
            Verdict
          </th>
          <th scope="col" className={css.key}>
            Key
          </th>
          <th scope="col" className={css.level}>
            Level
          </th>
          <th scope="col" className={`${css.took} ${css.number}`}>
            Took
          </th>
          <th scope="col" className={`${css.credits} ${css.number}`}>
            Credits
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry, i) => (
          <Fragment key={entry.id}>
            {(i === 0 || dayOf(entries[i - 1]!) !== dayOf(entry)) && (
              <tr className={css.day}>
                <th scope="rowgroup" colSpan={2}>
                  {formatDay(entry.created_at)}
                </th>
                {/* Not spanned: columns that leave would be counted. */}
                {[css.verdict, css.key, css.level, css.took, css.credits].map((column) => (
                  <td key={column} className={column} />
                ))}
              </tr>
            )}
            <Row entry={entry} search={search} onOpen={onOpen} />
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

function Row({ entry, search, onOpen }: { entry: LogEntry; search: LogSearch; onOpen: (id: string) => void }) {
  const { id, email, created_at, key, list, validation_type, duration_ms, credits_used } = entry;
  return (
    <tr
      className={css.row}
      data-entry={id}
      {...(search.open === id ? { 'aria-current': true } : {})}
      onClick={(event) => {
        // The link itself can be opened in another tab.
        if (event.target instanceof Element && event.target.closest('a') === null) onOpen(id);
      }}
    >
      <td className={css.time}>
        <time dateTime={created_at} title={formatDateTime(created_at)}>
          {formatClock(created_at)}
        </time>
      </td>
      <td>
        <Link to="/log" search={{ ...search, open: id }} resetScroll={false} aria-label={email}>
          <Address email={email} of={entry} />
        </Link>
        <span className={css.below}>
          <VerdictLine of={entry} />
        </span>
      </td>
      <td className={css.verdict}>
        <VerdictLine of={entry} />
      </td>
      <td className={css.key}>{list?.name ?? key?.name ?? 'Dashboard'}</td>
      <td className={css.level}>{validation_type}</td>
      <td className={`${css.took} ${css.number}`}>{formatNumber(duration_ms)} ms</td>
      <td className={`${css.credits} ${css.number}`}>{formatNumber(credits_used)}</td>
    </tr>
  );
}
