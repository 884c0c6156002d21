import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import type { ListHere } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { formatNumber } from '../../parts/format.ts';
import { QueryResult } from '../../parts/query-result.tsx';
import { Timestamp } from '../../parts/timestamp.tsx';
import { escapeInvisible } from '../../parts/verdict/escape-invisible.ts';
import css from './list.module.css';
import { deferredQuery } from './queries.ts';

interface DeferredAddress {
  readonly email: string;
  readonly attempts: number;
  readonly first_at: string;
  readonly retry_at: string;
}

const COLUMNS: readonly Column<DeferredAddress>[] = [
  { header: t`Address`, cell: ({ email }) => <span className="mono anywhere">{escapeInvisible(email)}</span> },
  { header: t`Next attempt`, cell: ({ retry_at }) => <Timestamp at={retry_at} /> },
  { header: t`Attempts`, cell: ({ attempts }) => formatNumber(attempts), numeric: true, folds: true },
  { header: t`First attempt`, cell: ({ first_at }) => <Timestamp at={first_at} />, folds: 'first' },
];

/** Addresses whose server deferred the answer, with the time of their next attempt. */
export function Deferred({ of }: { of: ListHere }) {
  const { id: account } = useAccount();
  const query = useQuery(deferredQuery(account, of.id));
  return (
    <div className={css.deferred}>
      <p>
        <Trans>
          Their servers deferred the answer, or a limit of this service did. They are asked again until{' '}
          {formatNumber(of.retry_minutes)} minutes after the first attempt; then the last answer stands.
          {of.status === 'paused' && t` While the list is paused, nothing is asked.`}
        </Trans>
      </p>
      <QueryResult query={query}>
        {({ deferred }) =>
          deferred.length === 0 ? (
            <p>{t`None are deferred anymore.`}</p>
          ) : (
            <>
              <DataTable
                label={t`Deferred addresses`}
                columns={COLUMNS}
                rows={deferred}
                rowKey={({ email }) => email}
              />
              {deferred.length < of.progress.waiting && (
                <p>
                  <Trans>
                    The next {formatNumber(deferred.length)} of {formatNumber(of.progress.waiting)}.
                  </Trans>
                </p>
              )}
            </>
          )
        }
      </QueryResult>
    </div>
  );
}
