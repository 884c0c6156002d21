import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Overview } from '../../api/schema.ts';
import { pluralize } from '../../parts/format.ts';
import { Review } from '../../parts/review.tsx';
import { NOTICE_COPY } from '../keys/notices.tsx';
import { NOTICES } from '../keys/search.ts';

/** API keys to review, with links to them. */
export function KeyNotices({ keys }: { keys: Overview['keys'] }) {
  const shown = NOTICES.filter((notice) => keys[notice] > 0);
  if (shown.length === 0) return null;
  return (
    <Review title="API keys to review">
      {shown.map((show) => (
        <Anchor key={show} renderRoot={(props) => <Link {...props} to="/settings/keys" search={{ show }} />}>
          {pluralize(keys[show], 'key')} {NOTICE_COPY[show].title}
        </Anchor>
      ))}
    </Review>
  );
}
