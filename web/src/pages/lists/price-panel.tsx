import { plural, t } from '@lingui/core/macro';
import { Alert, Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { heldPrice, type Level } from '../../../../src/kernel/facts/plans.ts';
import { api, unwrap } from '../../api/client.ts';
import type { List, ListHere } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { formatNumber } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import css from './lists.module.css';
import { listsQuery } from './queries.ts';

/**
 * What a list costs at most, what it will likely cost, and what is left; the button repeats the price. `reading`: while
 * the file is read again, what would be started is not what was chosen.
 */
export function PricePanel(props: {
  of: ListHere;
  reading: boolean;
  level: Level;
  balance: number | null;
  test: boolean;
}) {
  const { of, reading, level, balance, test } = props;
  const { id: account, prices } = useAccount();
  const client = useQueryClient();
  const { data } = useQuery(listsQuery(account, { status: 'completed' }));
  const { total, addresses, duplicates, blank, unreadable } = of.rows;
  const unit = heldPrice({ prices }, level, test);
  const most = addresses * unit;
  const forMx = addresses * heldPrice({ prices }, 'mx', false);
  const share = spentShare(data?.lists ?? [], level);
  const nothing = addresses === 0;
  const offered = most === 0 ? t`Start` : t`Start, for up to ${plural(most, { one: '# credit', other: '# credits' })}`;
  const missing = balance === null ? 0 : Math.max(0, most - balance);
  const startable = !reading && missing === 0 && !nothing;
  const { run, busy, error } = useAsyncAction(async () => {
    const call = { params: { path: { account, id: of.id } }, body: { validation_type: level } };
    await unwrap(api.POST('/dashboard/accounts/{account}/lists/{id}/start', call));
    await client.invalidateQueries({ queryKey: ['account', account] });
  });
  return (
    <Panel title={t`Price`}>
      <dl className={`${css.sum} numbers`}>
        <Line term={t`Rows in the file`} value={formatNumber(total)} />
        <Less term={t`Duplicates, verified once`} count={duplicates} />
        <Less term={t`Blank`} count={blank} />
        <Less term={t`Broken`} count={unreadable} />
        <Line term={t`Addresses to verify`} value={formatNumber(addresses)} isTotal />
        <Line
          term={t`At ${plural(unit, { one: '# credit', other: '# credits' })}, at most`}
          value={formatNumber(most)}
        />
        {share !== null && unit > 0 && (
          <Line term={t`Likely, after your last lists`} value={t`about ${formatNumber(Math.round(most * share))}`} />
        )}
        {balance !== null && (
          <>
            <Line term={t`Available`} value={formatNumber(balance)} isTotal />
            {missing === 0 && <Line term={t`Left, at least`} value={formatNumber(balance - most)} />}
          </>
        )}
      </dl>
      {missing > 0 && <Missing missing={missing} mx={level === 'smtp' && forMx <= (balance ?? 0) ? forMx : null} />}
      {error && <ErrorAlert error={error} />}
      <Button
        variant="filled"
        fullWidth
        h={40}
        loading={busy}
        {...(startable ? {} : { 'data-disabled': true, 'aria-disabled': true })}
        onClick={() => startable && run()}
      >
        {reading ? t`Reading the file again…` : nothing ? t`No address to verify` : offered}
      </Button>
      <p className={css.small}>
        {unit === 0
          ? t`Nothing is charged in test mode.`
          : t`The most is held at the start. What is not used comes back as rows are verified.`}
      </p>
    </Panel>
  );
}

/** `mx`: the credits that the list costs at the level mx; null where that is no way out. */
const Missing = ({ missing, mx }: { missing: number; mx: number | null }) => (
  <Alert
    color="yellow"
    variant="outline"
    mb="md"
    title={t`${plural(missing, { one: '# credit', other: '# credits' })} missing`}
  >
    {mx === null
      ? t`Ask the operator of this service for credits, or upload a part of the file.`
      : t`Ask the operator of this service for credits, choose mx for ${plural(mx, { one: '# credit', other: '# credits' })}, or upload a part of the file.`}{' '}
    {t`The list waits here meanwhile.`}
  </Alert>
);

const Line = ({ term, value, isTotal = false }: { term: string; value: string; isTotal?: boolean }) => (
  <>
    <dt className={isTotal ? css.total : ''}>{term}</dt>
    <dd className={isTotal ? css.total : ''}>{value}</dd>
  </>
);

const Less = ({ term, count }: { term: string; count: number }) =>
  count > 0 && <Line term={term} value={formatNumber(-count)} />;

/** Of the price of finished lists at that level, what was spent: 0 to 1. Null: there is none. */
function spentShare(lists: readonly List[], level: Level): number | null {
  const like = lists.filter(({ validation_type, credits }) => validation_type === level && credits.price > 0);
  const price = like.reduce((sum, { credits }) => sum + credits.price, 0);
  return price === 0 ? null : like.reduce((sum, { credits }) => sum + credits.used, 0) / price;
}
