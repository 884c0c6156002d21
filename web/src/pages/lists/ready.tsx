import { plural, t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { heldPrice, LEVELS, type Level, type Prices } from '../../../../src/kernel/facts/plans.ts';
import { overviewQuery } from '../../api/account.ts';
import type { ListHere } from '../../api/schema.ts';
import { useAccount, useHasRole } from '../../api/session.ts';
import { NotLoaded } from '../../parts/not-loaded.tsx';
import css from './lists.module.css';
import { PricePanel } from './price-panel.tsx';
import { ReadPanel, useReading } from './read-panel.tsx';
import type { ListSearch } from './search.ts';

const about = ({ unknown }: Prices): Readonly<Record<Level, string>> => ({
  mx: t`Syntax, your filters, disposable domains, the domain and its mail servers. The mailbox is not checked.`,
  smtp:
    t`All of mx, then asks the mail server whether the mailbox exists. Where it does not say, ` +
    t`it costs ${plural(unknown, { one: '# credit', other: '# credits' })}.`,
});

/** A list before its start: how its file was read, the level and the price. */
export function ReadyList(props: { of: ListHere; search: ListSearch; onSearch: (search: ListSearch) => void }) {
  const { of, search, onSearch } = props;
  const { id: account, test, prices } = useAccount();
  const mayChange = useHasRole('member');
  const overview = useQuery(overviewQuery(account));
  const reading = useReading(of);
  const hasSmtp = overview.data?.smtp_available !== false;
  const wanted = search.level ?? of.validation_type;
  const level: Level = wanted === 'smtp' && !hasSmtp ? 'mx' : wanted;
  return (
    // Whoever may not start it sees what would be started.
    <fieldset className={css.split} disabled={!mayChange} aria-label={t`Before the start`}>
      <div className={css.stack}>
        <ReadPanel of={of} reading={reading} />
        <fieldset className={css.fieldset}>
          <legend>{t`Level`}</legend>
          {LEVELS.map((one) => (
            <label key={one} className={css.level}>
              <input
                type="radio"
                name="level"
                value={one}
                checked={level === one}
                disabled={one === 'smtp' && !hasSmtp}
                onChange={() => onSearch({ ...search, level: one })}
              />
              <b>{one}</b>
              <span>{priceText(one, test, prices)}</span>
              <p>
                {about(prices)[one]}
                {one === 'smtp' && !hasSmtp && t` Not part of the plan of this account.`}
              </p>
            </label>
          ))}
        </fieldset>
      </div>
      <div className={css.stack}>
        <NotLoaded what={t`Your balance`} query={overview} />
        <PricePanel
          of={of}
          reading={reading.busy}
          level={level}
          balance={overview.data?.credits.unlimited === false ? overview.data.credits.remaining : null}
          test={test}
        />
        {!mayChange && <Text size="sm">{t`Viewers cannot start a list, nor change how it is read.`}</Text>}
      </div>
    </fieldset>
  );
}

function priceText(level: Level, test: boolean, prices: Prices): string {
  if (test) return t`free in test mode`;
  const price = plural(heldPrice({ prices }, level, false), { one: '# credit', other: '# credits' });
  return level === 'smtp' ? t`up to ${price} each` : t`${price} each`;
}
