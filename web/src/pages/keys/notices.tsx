import { plural, t } from '@lingui/core/macro';
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { KEY_IDLE_DAYS } from '../../../../src/kernel/facts/limits.ts';
import { KEY_NOTICES, type KeyNotice } from '../../../../src/kernel/facts/notices.ts';
import type { DashboardKey } from '../../api/schema.ts';
import { Review } from '../../parts/review.tsx';
import type { KeysSearch } from './search.ts';

/** `one`, `many`: what is said of a key, and of several. */
export const NOTICE_COPY: Readonly<
  Record<KeyNotice, { badge: string; title: string; one: string; many: string; advice: string }>
> = {
  never_used: {
    badge: t`never used`,
    title: t`never used`,
    one: t`was never used`,
    many: t`were never used`,
    advice: t`If nothing needs it, revoke it: an unused key is only a risk.`,
  },
  idle: {
    badge: 'idle',
    title: t`idle for ${KEY_IDLE_DAYS} days`,
    one: t`has been idle for ${KEY_IDLE_DAYS} days`,
    many: t`have been idle for ${KEY_IDLE_DAYS} days`,
    advice: t`Check whether anything still needs the key. If not, revoke it.`,
  },
  open_to_all: {
    badge: t`any IP address`,
    title: t`allowed from any IP address`,
    one: t`is allowed from any IP address`,
    many: t`are allowed from any IP address`,
    advice: t`Anyone who obtains the key can use it from anywhere. Edit it and add the IP addresses of your servers.`,
  },
  budget_spent: {
    badge: t`budget spent`,
    title: t`with a spent monthly budget`,
    one: t`has spent its monthly budget`,
    many: t`have spent their monthly budgets`,
    advice: t`Requests that cost credits are rejected (402) until next month. Edit the key to raise its budget.`,
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
      <Review
        title={`${plural(of(show).length, { one: '# key', other: '# keys' })} ${NOTICE_COPY[show].title}`}
        of={[show]}
      >
        <span>{NOTICE_COPY[show].advice}</span>
        <Anchor
          underline="always"
          renderRoot={(props) => <Link {...props} to="/settings/keys" search={rest} />}
        >{t`Show all keys`}</Anchor>
      </Review>
    );
  const shown = KEY_NOTICES.filter((notice) => of(notice).length > 0);
  if (shown.length === 0) return null;
  const all = keys.filter(({ notices }) => notices.length > 0).length;
  return (
    <Review title={t`${plural(all, { one: '# key', other: '# keys' })} to review`} of={shown}>
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
      {plural(keys.length, { one: '# key', other: '# keys' })}
    </Anchor>
  ) : (
    keys.map(({ id, name }, i) => (
      <span key={id}>
        {i > 0 && t` and `}
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
