import { Trans } from '@lingui/react/macro';
import type { LinkProps } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';
import type { Delta } from './delta.ts';
import css from './figures.module.css';
import { Icon } from './icon.tsx';

/** `to`: the rows that it counts; none where there are no rows. */
interface FigureItem {
  readonly label: string;
  readonly value: string;
  readonly unit?: string;
  readonly delta?: Delta | null;
  /** In place of a delta. */
  readonly note?: string;
  readonly link?: Pick<LinkProps, 'to' | 'search'>;
}

/** Longer values are smaller where the columns are narrow. */
const SHORT = 7;

/** Key figures in a row, with hairlines between them. */
export const Figures = ({ label, items }: { label: string; items: readonly FigureItem[] }) => (
  <section className={css.figures} aria-label={label}>
    {items.map((item) =>
      item.link === undefined ? (
        <div key={item.label} className={css.figure}>
          <Content {...item} />
        </div>
      ) : (
        <Link key={item.label} className={css.figure} {...item.link}>
          <Content {...item} />
        </Link>
      ),
    )}
  </section>
);

function Content({ label, value, unit, delta, note }: FigureItem) {
  return (
    <>
      <span className={css.label}>{label}</span>
      <span className={css.value} data-long={value.length > SHORT || undefined}>
        {value}
        {unit && <small> {unit}</small>}
      </span>
      <span className={css.delta} data-tone={delta?.tone}>
        {note}
        {delta && (
          <Trans>
            {delta.direction !== 'same' && (
              <Icon name={delta.direction === 'up' ? 'arrow-up' : 'arrow-down'} size={12} />
            )}
            <b>{delta.change}</b> from {delta.from}
          </Trans>
        )}
      </span>
    </>
  );
}
