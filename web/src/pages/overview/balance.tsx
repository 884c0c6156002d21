import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { FORECAST_DAYS } from '../../../../src/kernel/facts/limits.ts';
import type { Overview } from '../../api/schema.ts';
import { useAccount, useHasRole } from '../../api/session.ts';
import { formatDate, formatNumber, pluralize } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { RATE_WINDOW } from '../../parts/plans.ts';
import { LowBalanceThreshold } from './low-balance-threshold.tsx';
import css from './overview.module.css';

const DAY_MS = 86_400_000;
/** Days of the forecast that are drawn at most. */
const AHEAD = 60;

/** What is left, how it got there and where it leads. */
export function Balance({ overview }: { overview: Overview }) {
  const isAdmin = useHasRole('admin');
  const { test } = useAccount();
  const { credits, low_balance, rate_limit } = overview;
  return (
    <Panel title="Balance" actions={!test && <Link to="/account/ledger">Credit ledger</Link>}>
      <span className={css.balance}>
        {formatNumber(credits.remaining)} <small>{test ? 'test credits' : 'credits'}</small>
      </span>
      <p className={css.about}>
        {test ? 'Test mode charges nothing, so they stay.' : <Forecast overview={overview} />}
      </p>
      {!test && <BalanceLine overview={overview} />}
      <div className={css.limits}>
        {!test && <LowBalanceThreshold threshold={low_balance} isAdmin={isAdmin} />}
        <Text size="sm" mt={test ? 0 : 'xs'}>
          Rate limit: {formatNumber(rate_limit.remaining)} of {formatNumber(rate_limit.limit)} requests left in the
          current window of {RATE_WINDOW}.{' '}
          {!test && (
            <Anchor component={Link} to="/account" underline="always">
              Plan and prices
            </Anchor>
          )}
        </Text>
      </div>
    </Panel>
  );
}

function Forecast({ overview: { credits, balance } }: { overview: Overview }) {
  const { per_day, empty_at } = balance;
  const held = credits.locked > 0 && ` ${pluralize(credits.locked, 'credit')} held for running verifications.`;
  if (per_day === 0)
    return (
      <>
        Nothing was spent in the last {FORECAST_DAYS} days.{held}
      </>
    );
  const pace = `at the pace of the last ${FORECAST_DAYS} days, about ${formatNumber(per_day)} a day.`;
  return (
    <>
      {empty_at === null ? (
        'Lasts for more than two years '
      ) : (
        <>
          Lasts until about <b>{formatDate(empty_at)}</b>{' '}
        </>
      )}
      {pace}
      {held}
    </>
  );
}

/** The past as a line, the forecast as a broken one. */
function BalanceLine({ overview: { balance, low_balance } }: { overview: Overview }) {
  const { days, per_day, empty_at } = balance;
  const last = days.at(-1);
  const first = days[0];
  if (first === undefined || last === undefined) return null;
  const ahead = per_day === 0 ? 0 : Math.min(AHEAD, empty_at === null ? AHEAD : daysBetween(last.at, empty_at));
  const width = Math.max(1, days.length - 1 + ahead);
  const top = Math.max(1, ...days.map((day) => day.balance));
  const x = (i: number) => (i / width) * 100;
  const y = (value: number) => 100 - (Math.max(0, value) / top) * 96;
  const past = days.map((day, i) => `${i === 0 ? 'M' : 'L'}${x(i)} ${y(day.balance)}`).join('');
  const end = last.balance - ahead * per_day;
  const now = days.length - 1;
  const label = `Balance from ${formatNumber(first.balance)} on ${formatDate(first.at)} to ${formatNumber(last.balance)} today${empty_at === null ? '' : `; 0 on about ${formatDate(empty_at)}`}`;
  return (
    <>
      <svg className={css.line} viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label={label}>
        {low_balance !== null && low_balance <= top && (
          <line x1="0" x2="100" y1={y(low_balance)} y2={y(low_balance)} stroke="var(--v-risky)" strokeDasharray="2 3" />
        )}
        <line x1="0" x2="100" y1="100" y2="100" stroke="var(--line-control)" />
        <path d={past} stroke="var(--ink)" strokeWidth={1.75} />
        {ahead > 0 && (
          <path d={`M${x(now)} ${y(last.balance)}L100 ${y(end)}`} stroke="var(--ink-3)" strokeDasharray="3 4" />
        )}
      </svg>
      <div className={css.ends} aria-hidden>
        <span>{formatDate(first.at)}</span>
        {ahead > 0 && <span>today</span>}
        <span>
          {ahead === 0 ? 'today' : `about ${formatDate(new Date(Date.parse(last.at) + ahead * DAY_MS).toISOString())}`}
        </span>
      </div>
    </>
  );
}

const daysBetween = (from: string, to: string): number =>
  Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS));
