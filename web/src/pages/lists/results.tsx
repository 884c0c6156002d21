import { plural, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ListHere } from '../../api/schema.ts';
import { formatClock, formatNumber, zoneName } from '../../parts/format.ts';
import panel from '../../parts/panel.module.css';
import { Deferred } from './deferred.tsx';
import { Facets } from './facets.tsx';
import css from './list.module.css';
import { etaText, ListProgress, onlyWaits } from './progress-bar.tsx';
import { Rest } from './rest.tsx';
import { Rows } from './rows.tsx';
import type { ListSearch } from './search.ts';

/** A list from its start on: how far it is, and its rows by verdict. */
export function ListResults(props: { of: ListHere; search: ListSearch; onSearch: (search: ListSearch) => void }) {
  const { of, search, onSearch } = props;
  return (
    <>
      <section className={panel.panel} aria-label={t`Progress`}>
        <div className={css.state}>
          <div className={css.head}>
            <p className={css.figure}>
              <Trans>
                <b>{formatNumber(of.progress.done)}</b> of{' '}
                <Plural value={of.rows.addresses} one="# address" other="# addresses" />, {of.progress.percent} %
              </Trans>
            </p>
            <p className="numbers">{paceText(of)}</p>
          </div>
          <ListProgress of={of} />
          {of.error !== null && <p className={css.error}>{of.error.error}</p>}
          <Rest of={of} />
        </div>
        <Facts of={of} />
      </section>
      <div className={css.grid}>
        <Facets of={of} search={search} />
        {search.show === 'deferred' ? <Deferred of={of} /> : <Rows of={of} search={search} onSearch={onSearch} />}
      </div>
    </>
  );
}

function paceText(of: ListHere): ReactNode {
  const { status, progress, rows } = of;
  const eta = etaText(of);
  switch (status) {
    case 'running':
      if (onlyWaits(of)) return t`Waits for deferred addresses`;
      if (progress.per_second === null || eta === null) return t`Starting`;
      return (
        <>
          <b>
            <Trans>{formatNumber(progress.per_second)} a second</Trans>
          </b>
          , {eta}
        </>
      );
    case 'paused':
      return t`Paused: no new addresses are taken`;
    case 'ready':
    case 'completed':
      return t`Finished`;
    case 'cancelled':
      return t`Canceled with ${formatNumber(rows.addresses - progress.done)} not verified`;
    case 'failed':
      return t`Failed because of an error in the service`;
  }
}

function Facts({ of }: { of: ListHere }) {
  const { id, credits, progress, next_retry_at, rows } = of;
  return (
    <dl className={css.facts}>
      <div>
        <dt>{t`Spent`}</dt>
        <dd>{plural(credits.used, { one: '# credit', other: '# credits' })}</dd>
      </div>
      <div>
        <dt>{t`Held for the rest`}</dt>
        <dd>{plural(credits.held, { one: '# credit', other: '# credits' })}</dd>
      </div>
      <div>
        <dt>{t`Deferred`}</dt>
        <dd>
          {progress.waiting === 0 ? (
            t`None`
          ) : (
            <Link to="/lists/$id" params={{ id }} search={{ show: 'deferred' }} resetScroll={false}>
              {formatNumber(progress.waiting)}
              {next_retry_at !== null && t`, next attempt ${formatClock(next_retry_at)} ${zoneName(next_retry_at)}`}
            </Link>
          )}
        </dd>
      </div>
      <div>
        <dt>{t`Skipped`}</dt>
        <dd>
          {rows.duplicates + rows.blank + rows.unreadable === 0
            ? t`None`
            : leftOut(of).map(([kind, text], i) => (
                <span key={kind}>
                  {i > 0 && ', '}
                  <Link to="/lists/$id" params={{ id }} search={{ kind }} resetScroll={false}>
                    {text}
                  </Link>
                </span>
              ))}
        </dd>
      </div>
    </dl>
  );
}

const leftOut = ({ rows: { duplicates, blank, unreadable } }: ListHere) =>
  (
    [
      ['duplicate', duplicates, plural(duplicates, { one: '# duplicate', other: '# duplicates' })],
      ['blank', blank, t`${formatNumber(blank)} blank`],
      ['unreadable', unreadable, t`${formatNumber(unreadable)} broken`],
    ] as const
  ).flatMap(([kind, count, text]) => (count > 0 ? [[kind, text] as const] : []));
