import { plural, t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Anchor, Button, Group, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { FORECAST_DAYS, LOW_BALANCE } from '../../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../../api/client.ts';
import type { Overview } from '../../api/schema.ts';
import { useAccount, useHasRole, useSession } from '../../api/session.ts';
import { focusOnMount } from '../../parts/focus.ts';
import { formatNumber, formatUtcDate } from '../../parts/format.ts';
import { notify } from '../../parts/notify.tsx';
import { Panel } from '../../parts/panel.tsx';
import { parseInteger } from '../../parts/parse-integer.ts';
import { creditParts, RATE_WINDOW } from '../../parts/plans.ts';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { useFocusInvalid } from '../../parts/use-focus-invalid.ts';
import css from './overview.module.css';

/** The balance below which users are alerted. Admins can edit it in place. */
function LowBalanceThreshold({ threshold, isAdmin }: { threshold: number | null; isAdmin: boolean }) {
  const [editing, setEditing] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const close = () => {
    setEditing(false);
    requestAnimationFrame(() => opener.current?.focus());
  };
  if (editing) return <ThresholdForm threshold={threshold} onClose={close} />;
  return (
    <Group gap="xs" justify="space-between">
      <Text size="sm">
        {threshold === null
          ? t`No low-balance alert.`
          : t`Low-balance alert below ${plural(threshold, { one: '# credit', other: '# credits' })}.`}
      </Text>
      {isAdmin && (
        <Button size="xs" ref={opener} onClick={() => setEditing(true)}>
          {threshold === null ? t`Set low-balance threshold` : t`Change threshold`}
        </Button>
      )}
    </Group>
  );
}

function ThresholdForm({ threshold, onClose }: { threshold: number | null; onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [text, setText] = useState(threshold === null ? '' : String(threshold));
  async function save(credits: number | null) {
    const path = { params: { path: { account: id } }, body: { credits } };
    await unwrap(api.PUT('/dashboard/accounts/{account}/low-balance', path));
    await client.invalidateQueries({ queryKey: ['account', id] });
    void notify(
      credits === null
        ? t`Low-balance threshold removed.`
        : t`Low-balance threshold set to ${plural(credits, { one: '# credit', other: '# credits' })}.`,
    );
    onClose();
  }
  const set = useAsyncAction(async () => save(parseInteger(text, 'credits', LOW_BALANCE.min)));
  const clear = useAsyncAction(() => save(null));
  const error = set.error ?? clear.error;
  const { form, onAttempt } = useFocusInvalid(error);
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onAttempt();
        set.run();
      }}
    >
      <TextInput
        label={t`Alert when the balance falls below`}
        description={t`In credits. Shows a banner and sends one email to owners and admins.`}
        inputMode="numeric"
        autoComplete="off"
        ref={focusOnMount}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={error?.message}
      />
      <Group gap="xs" mt="xs">
        <Button size="xs" onClick={onClose}>{t`Cancel`}</Button>
        {threshold !== null && (
          <Button size="xs" onClick={clear.run} loading={clear.busy}>{t`Remove threshold`}</Button>
        )}
        <Button type="submit" size="xs" loading={set.busy}>{t`Save`}</Button>
      </Group>
    </form>
  );
}

const DAY_MS = 86_400_000;
/** Days of the forecast that are drawn at most. */
const AHEAD = 60;

const BOOKKEEPING = t`On your own server credits are bookkeeping: they show who uses how much, and cost nothing. A plan with unlimited credits is one line in the plans file.`;

/** What is left, how it got there and where it leads. */
export function Balance({ overview }: { overview: Overview }) {
  const isAdmin = useHasRole('admin');
  const { test } = useAccount();
  const { credits, low_balance, rate_limit } = overview;
  const isOperator = useSession().user?.operator === true;
  const isUnlimited = credits.unlimited && !test;
  return (
    <Panel title={t`Balance`} actions={!test && <Link to="/account/ledger">{t`Credit ledger`}</Link>}>
      <span className={css.balance}>
        {isUnlimited ? t`Unlimited` : formatNumber(credits.remaining)}{' '}
        <small>{test ? t`test credits` : isUnlimited ? t`credits` : t`credits available`}</small>
      </span>
      <p className={css.about}>
        {test ? t`Test mode charges nothing, so they stay.` : !isUnlimited && <Forecast overview={overview} />}
        {!test && !isUnlimited && credits.allowance > 0 && ` ${creditParts(credits)}`}
        {!test && (isUnlimited || isOperator) && ` ${BOOKKEEPING}`}
      </p>
      {!test && !isUnlimited && <BalanceLine overview={overview} />}
      <div className={css.limits}>
        {!test && !isUnlimited && <LowBalanceThreshold threshold={low_balance} isAdmin={isAdmin} />}
        <Text size="sm" mt={test ? 0 : 'xs'}>
          <Trans>
            Rate limit: {formatNumber(rate_limit.remaining)} of {formatNumber(rate_limit.limit)} requests left in the
            current window of {RATE_WINDOW}.{' '}
            {!test && <Anchor component={Link} to="/account" underline="always">{t`Plan and prices`}</Anchor>}
          </Trans>
        </Text>
      </div>
    </Panel>
  );
}

/** What is held is no longer available: lists take that much at most. */
function Forecast({ overview: { credits, balance } }: { overview: Overview }) {
  const { per_day, empty_at, month_ends, month_short_by } = balance;
  const held = credits.locked > 0 && (
    <Trans>
      {' '}
      <Plural value={credits.locked} one="# more credit" other="# more credits" /> held for running verifications and
      lists, which take that much at most.
    </Trans>
  );
  if (per_day === 0)
    return (
      <Trans>
        Nothing but lists was charged in the last {FORECAST_DAYS} days.{held}
      </Trans>
    );
  const lastDay = formatUtcDate(new Date(Date.parse(month_ends) - 1).toISOString());
  return (
    <Trans>
      Without lists: about {formatNumber(per_day)} a day, as in the last {FORECAST_DAYS} days,{' '}
      {empty_at === null ? (
        t`enough for more than two years.`
      ) : (
        <Trans>
          until about <b>{formatUtcDate(empty_at)}</b>.
        </Trans>
      )}{' '}
      {month_short_by === 0 ? (
        t`Enough until ${lastDay}.`
      ) : (
        <b>
          <Trans>
            This month: short by about {formatNumber(month_short_by)} until {lastDay}.
          </Trans>
        </b>
      )}
      {held}
    </Trans>
  );
}

/** The past as a line, the forecast as a broken one, from what is available. */
function BalanceLine({ overview: { balance, credits, low_balance } }: { overview: Overview }) {
  const { days, per_day, empty_at } = balance;
  const last = days.at(-1);
  const first = days[0];
  if (first === undefined || last === undefined) return null;
  const left = empty_at === null ? Number.POSITIVE_INFINITY : daysBetween(last.at, empty_at);
  const ahead = per_day === 0 ? 0 : Math.min(AHEAD, left);
  const width = Math.max(1, days.length - 1 + ahead);
  const top = Math.max(1, ...days.map((day) => day.balance));
  const x = (i: number) => (i / width) * 100;
  const y = (value: number) => 100 - (Math.max(0, value) / top) * 96;
  const past = days.map((day, i) => `${i === 0 ? 'M' : 'L'}${x(i)} ${y(day.balance)}`).join('');
  // The day on which it is used up is the one that the sentence names.
  const end = left <= AHEAD ? 0 : credits.remaining - ahead * per_day;
  const now = days.length - 1;
  const lastDay =
    left <= AHEAD && empty_at !== null ? empty_at : new Date(Date.parse(last.at) + ahead * DAY_MS).toISOString();
  const label = t`Credits, held ones included, from ${formatNumber(first.balance)} on ${formatUtcDate(first.at)} to ${formatNumber(last.balance)} today; ${formatNumber(credits.remaining)} available${empty_at === null ? '' : t`, 0 on about ${formatUtcDate(empty_at)}`}`;
  return (
    <>
      <svg className={css.line} viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label={label}>
        {low_balance !== null && low_balance <= top && (
          <line x1="0" x2="100" y1={y(low_balance)} y2={y(low_balance)} stroke="var(--v-risky)" strokeDasharray="2 3" />
        )}
        <line x1="0" x2="100" y1="100" y2="100" stroke="var(--line-control)" />
        <path d={past} stroke="var(--ink)" strokeWidth={1.75} />
        {ahead > 0 && (
          <path d={`M${x(now)} ${y(credits.remaining)}L100 ${y(end)}`} stroke="var(--ink-3)" strokeDasharray="3 4" />
        )}
      </svg>
      <div className={css.ends} aria-hidden>
        <span>{formatUtcDate(first.at)}</span>
        {ahead > 0 && x(now) > EDGE && x(now) < 100 - EDGE && (
          <span className={css.today} style={{ left: `${x(now)}%` }}>{t`today`}</span>
        )}
        <span>{ahead === 0 ? t`today` : `${left <= AHEAD ? t`about ` : ''}${formatUtcDate(lastDay)}`}</span>
      </div>
    </>
  );
}

/** Where the name of a day would cover that of an end, in percent. */
const EDGE = 24;

const daysBetween = (from: string, to: string): number =>
  Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS));
