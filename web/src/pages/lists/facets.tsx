import { t } from '@lingui/core/macro';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { REASON_FILTERS } from '../../../../src/kernel/facts/reasons.ts';
import type { ListHere } from '../../api/schema.ts';
import { SEGMENT_LABELS } from '../../parts/chart/bars.ts';
import { formatShare, shareOf } from '../../parts/delta.ts';
import { formatNumber, inSentence } from '../../parts/format.ts';
import { Glyph } from '../../parts/glyph.tsx';
import { Panel } from '../../parts/panel.tsx';
import { oneOf } from '../../parts/search-params.ts';
import { reasonName } from '../../parts/verdict/outcome.ts';
import { VERDICTS } from './deliverability.ts';
import css from './list.module.css';
import { notCheckedOf } from './progress-bar.tsx';
import { RetryUnknown } from './retry-unknown.tsx';
import type { ListSearch } from './search.ts';

/** Counts of distinct addresses; each opens its rows. */
export function Facets({ of, search }: { of: ListHere; search: ListSearch }) {
  const { progress, deliverability } = of;
  const notChecked = notCheckedOf(of);
  const isAllUnchecked = notChecked > 0 && notChecked === deliverability.unknown;
  const { verdict, reason, kind, show } = search;
  const isAll = [verdict, reason, kind, show].every((value) => value === undefined);
  const share = (count: number) => (progress.done === 0 ? '' : formatShare(shareOf(count, progress.done)));
  return (
    <Panel title={t`By verdict`} flush>
      <ul className={css.facets}>
        <Facet
          of={of}
          to={{}}
          isCurrent={isAll}
          glyph={<span />}
          count={progress.done}
          share={share(progress.done)}
        >{t`All verified`}</Facet>
        {VERDICTS.map((one) => (
          <Facet
            key={one}
            of={of}
            to={{ verdict: one }}
            isCurrent={verdict === one && reason === undefined}
            glyph={<Glyph of={one === 'unknown' && isAllUnchecked ? 'not_checked' : one} />}
            count={deliverability[one]}
            share={share(deliverability[one])}
          >
            {one === 'unknown' && isAllUnchecked ? SEGMENT_LABELS.not_checked : SEGMENT_LABELS[one]}
          </Facet>
        ))}
        {notChecked > 0 && !isAllUnchecked && (
          <Facet
            of={of}
            to={{ verdict: 'unknown', reason: 'none' }}
            isCurrent={verdict === 'unknown' && reason === 'none'}
            glyph={<Glyph of="not_checked" />}
            count={notChecked}
            share={share(notChecked)}
          >
            {t`Of the unknown: ${inSentence(SEGMENT_LABELS.not_checked)}`}
          </Facet>
        )}
        {progress.waiting > 0 && (
          <Facet
            of={of}
            to={{ show: 'deferred' }}
            isCurrent={show === 'deferred'}
            glyph={<span />}
            count={progress.waiting}
            share=""
          >{t`Deferred`}</Facet>
        )}
      </ul>
      <Reasons of={of} search={search} share={share} />
      <RetryUnknown of={of} />
    </Panel>
  );
}

function Reasons(props: { of: ListHere; search: ListSearch; share: (count: number) => string }) {
  const { of, search, share } = props;
  const reasons = Object.entries(of.by_reason).toSorted(([, a], [, b]) => b - a);
  if (reasons.length === 0) return null;
  return (
    <>
      <h3 className={css.subhead}>{t`By reason`}</h3>
      <ul className={css.facets} data-small>
        {reasons.map(([name, count]) => {
          const reason = oneOf(REASON_FILTERS, name);
          return (
            reason !== undefined && (
              <Facet
                key={name}
                of={of}
                to={{ reason }}
                isCurrent={search.reason === reason}
                glyph={<span />}
                count={count}
                share={share(count)}
              >
                {reasonName(name)}
              </Facet>
            )
          );
        })}
      </ul>
    </>
  );
}

function Facet(props: {
  of: ListHere;
  to: ListSearch;
  isCurrent: boolean;
  glyph: ReactNode;
  count: number;
  share: string;
  children: string;
}) {
  const { of, to, isCurrent, glyph, count, share, children } = props;
  return (
    <li>
      <Link
        to="/lists/$id"
        params={{ id: of.id }}
        search={to}
        resetScroll={false}
        // Otherwise the router marks the one without parameters on all of the page's URLs.
        activeOptions={{ exact: true }}
        {...(isCurrent ? { 'data-current': true } : {})}
      >
        {glyph}
        <span>{children}</span>
        <b className="numbers">{formatNumber(count)}</b>
        <span className={css.share}>{share}</span>
      </Link>
    </li>
  );
}
