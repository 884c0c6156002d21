import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Overview } from '../../api/schema.ts';
import { SEGMENTS } from '../../parts/chart/bars.ts';
import { formatDateTime, formatNumber, pluralize } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import css from './overview.module.css';

type List = Overview['lists'][number];
/** Results of lists are not counted apart from what was not checked. */
const ORDER = SEGMENTS.filter((segment) => segment !== 'not_checked');

/** Lists that are running, and the latest ones. */
export const LatestLists = ({ lists }: { lists: readonly List[] }) => (
  <Panel
    title="Lists"
    actions={
      <Anchor fz="sm" renderRoot={(props) => <Link {...props} to="/lists" search={{}} />}>
        All lists
      </Anchor>
    }
  >
    {lists.length === 0 ? (
      <p className={css.about}>
        No lists of addresses yet.{' '}
        <Anchor component={Link} to="/lists/new">
          New list
        </Anchor>
      </p>
    ) : (
      <ul className={css.lists}>
        {lists.map((list) => (
          <ListItem key={list.id} list={list} />
        ))}
      </ul>
    )}
  </Panel>
);

function ListItem({ list }: { list: List }) {
  const { id, name, status, addresses, done, deliverability } = list;
  const isRunning = status === 'running';
  const text = `${formatNumber(done)} of ${formatNumber(addresses)} done`;
  return (
    <li>
      <div className={css.between}>
        <Link className="anywhere" to="/lists/$id" params={{ id }}>
          <b>{name}</b>
        </Link>
        <span className={css.tag} {...(isRunning ? { 'data-running': true } : {})}>
          {status}
        </span>
      </div>
      <div
        className={css.segments}
        role="progressbar"
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={addresses}
        aria-valuenow={done}
        aria-valuetext={text}
      >
        {ORDER.map((outcome) => (
          <i
            key={outcome}
            data-outcome={outcome}
            style={{ width: `${addresses === 0 ? 0 : (deliverability[outcome] / addresses) * 100}%` }}
          />
        ))}
      </div>
      <div className={`${css.between} ${css.small}`}>
        <span>{text}</span>
        <span>{remainderOf(list)}</span>
      </div>
    </li>
  );
}

function remainderOf({ status, addresses, done, waiting, per_second, finished_at }: List): string {
  if (finished_at !== null) return formatDateTime(finished_at);
  if (status !== 'running') return '';
  const left = addresses - done;
  if (waiting > 0 && waiting === left) return `${formatNumber(waiting)} deferred`;
  if (per_second === null || per_second === 0) return '';
  const minutes = Math.ceil(left / per_second / 60);
  return minutes < 120
    ? `about ${formatNumber(minutes)} min left`
    : `about ${pluralize(Math.ceil(minutes / 60), 'hour')} left`;
}
