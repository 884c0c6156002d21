import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { KEY_IDLE_DAYS } from '../../../../src/kernel/facts/limits.ts';
import { KEY_NOTICES, type KeyNotice } from '../../../../src/kernel/facts/notices.ts';
import type { DashboardKey } from '../../api/schema.ts';
import { pluralize } from '../../parts/format.ts';
import { Review } from '../../parts/review.tsx';
import type { KeysSearch } from './search.ts';

/** `one`, `many`: what is said of a key, and of several. */
export const NOTICE_COPY: Readonly<
  Record<KeyNotice, { badge: string; title: string; one: string; many: string; advice: string }>
> = {
  never_used: {
    badge: 'never used',
    title: 'never used',
    one: 'was never used',
    many: 'were never used',
    advice: 'If nothing needs it, revoke it: an unused key is only a risk.',
  },
  idle: {
    badge: 'idle',
    title: `idle for ${KEY_IDLE_DAYS} days`,
    one: `has been idle for ${KEY_IDLE_DAYS} days`,
    many: `have been idle for ${KEY_IDLE_DAYS} days`,
    advice: 'Check whether anything still needs the key. If not, revoke it.',
  },
  open_to_all: {
    badge: 'any IP address',
    title: 'allowed from any IP address',
    one: 'is allowed from any IP address',
    many: 'are allowed from any IP address',
    advice: 'Anyone who obtains the key can use it from anywhere. Edit it and add the IP addresses of your servers.',
  },
  budget_spent: {
    badge: 'budget spent',
    title: 'with a spent monthly budget',
    one: 'has spent its monthly budget',
    many: 'have spent their monthly budgets',
    advice: 'Requests that cost credits are rejected (402) until next month. Edit the key to raise its budget.',
  },
};

/** More are counted, with a link that shows only them. */
const MOST_NAMED = 2;

/** Keys to review, in one line; with advice while only those with one notice are shown. */
export function Notices({ keys, search }: { keys: readonly DashboardKey[]; search: KeysSearch }) {
  const { show, ...rest } = search;
  const of = (notice: KeyNotice) => keys.filter(({ notices }) => notices.includes(notice));
  if (show !== undefined)
    return (
      <Review title={`${pluralize(of(show).length, 'key')} ${NOTICE_COPY[show].title}`} of={[show]}>
        <span>{NOTICE_COPY[show].advice}</span>
        <Anchor underline="always" renderRoot={(props) => <Link {...props} to="/settings/keys" search={rest} />}>
          Show all keys
        </Anchor>
      </Review>
    );
  const shown = KEY_NOTICES.filter((notice) => of(notice).length > 0);
  if (shown.length === 0) return null;
  const all = keys.filter(({ notices }) => notices.length > 0).length;
  return (
    <Review title={`${pluralize(all, 'key')} to review`} of={shown}>
      {shown.map((notice) => (
        <span key={notice}>
          <Subject keys={of(notice)} search={{ ...rest, show: notice }} />{' '}
          {NOTICE_COPY[notice][of(notice).length === 1 ? 'one' : 'many']}.
        </span>
      ))}
    </Review>
  );
}

const Subject = ({ keys, search }: { keys: readonly DashboardKey[]; search: KeysSearch }) =>
  keys.length > MOST_NAMED ? (
    <Anchor underline="always" renderRoot={(props) => <Link {...props} to="/settings/keys" search={search} />}>
      {pluralize(keys.length, 'key')}
    </Anchor>
  ) : (
    keys.map(({ id, name }, i) => (
      <span key={id}>
        {i > 0 && ' and '}
        <Anchor
          underline="always"
          className="anywhere"
          renderRoot={(props) => <Link {...props} to="/settings/keys/$id" params={{ id }} />}
        >
          {name}
        </Anchor>
      </span>
    ))
  );
