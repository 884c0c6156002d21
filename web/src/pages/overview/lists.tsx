import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { List } from '../../api/schema.ts';
import { formatDateTime, formatNumber } from '../../parts/format.ts';
import { Loading } from '../../parts/loading.tsx';
import { Panel } from '../../parts/panel.tsx';
import { etaText, ListProgress } from '../lists/progress-bar.tsx';
import { ListStatusTag } from '../lists/status.tsx';
import css from './overview.module.css';

/** Lists that are running, and the latest ones; null: not known yet. */
export const LatestLists = ({ lists }: { lists: readonly List[] | null }) => (
  <Panel
    title="Lists"
    actions={
      <Link to="/lists" search={{}}>
        All lists
      </Link>
    }
  >
    {lists === null ? (
      <Loading />
    ) : lists.length === 0 ? (
      <p className={css.about}>
        No lists of addresses yet.{' '}
        <Anchor component={Link} to="/lists/new">
          New list
        </Anchor>
      </p>
    ) : (
      <ul className={css.lists}>
        {lists.map((list) => (
          <ListItem key={list.id} of={list} />
        ))}
      </ul>
    )}
  </Panel>
);

function ListItem({ of }: { of: List }) {
  const { id, name, rows, progress, finished_at } = of;
  return (
    <li>
      <div className={css.between}>
        <Link className={`${css.go} anywhere`} to="/lists/$id" params={{ id }}>
          <b>{name}</b>
        </Link>
        <ListStatusTag of={of} />
      </div>
      <ListProgress of={of} thin />
      <div className={`${css.between} ${css.small}`}>
        <span>
          {formatNumber(progress.done)} of {formatNumber(rows.addresses)} done
        </span>
        <span>{finished_at === null ? etaText(of) : formatDateTime(finished_at)}</span>
      </div>
    </li>
  );
}
