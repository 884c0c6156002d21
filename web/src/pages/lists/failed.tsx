import { t } from '@lingui/core/macro';
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Overview } from '../../api/schema.ts';
import { formatDateTime } from '../../parts/format.ts';
import { Review } from '../../parts/review.tsx';

/** Lists that failed in the last days: each says why, and how to go on. */
export const FailedLists = ({ lists }: { lists: Overview['failed_lists'] }) =>
  lists.length === 0 ? null : (
    <Review title={t`Lists that failed`} of={['failed_lists']}>
      {lists.map(({ id, name, finished_at }) => (
        <Anchor
          key={id}
          className="anywhere"
          renderRoot={(props) => <Link {...props} to="/lists/$id" params={{ id }} />}
        >
          {name}
          {finished_at !== null && `, ${formatDateTime(finished_at)}`}
        </Anchor>
      ))}
    </Review>
  );
