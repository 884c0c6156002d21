import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { KEY_IDLE_DAYS } from '../../../../src/kernel/facts/limits.ts';
import { KEY_NOTICES, type KeyNotice } from '../../../../src/kernel/facts/notices.ts';
import type { DashboardKey } from '../../api/schema.ts';
import { Review } from '../../parts/review.tsx';
import type { KeysSearch } from './search.ts';

/** `title`: before the names of the keys it is true of. */
export const NOTICE_COPY: Readonly<Record<KeyNotice, { badge: string; title: string; advice: string }>> = {
  never_used: {
    badge: t`never used`,
    title: t`Never used`,
    advice: t`If nothing needs it, revoke it: an unused key is only a risk.`,
  },
  idle: {
    badge: t`idle`,
    title: t`Idle for ${KEY_IDLE_DAYS} days`,
    advice: t`Check whether anything still needs the key. If not, revoke it.`,
  },
  open_to_all: {
    badge: t`any IP address`,
    title: t`Allowed from any IP address`,
    advice: t`Anyone who obtains the key can use it from anywhere. Edit it and add the IP addresses of your servers.`,
  },
  budget_spent: {
    badge: t`budget spent`,
    title: t`Monthly budget spent`,
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
      <Review title={t`${NOTICE_COPY[show].title}: ${countText(of(show))}`} of={[show]}>
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
          <Trans>
            {NOTICE_COPY[notice].title}: <Subject keys={of(notice)} search={{ ...rest, show: notice }} />.
          </Trans>
        </span>
      ))}
    </Review>
  );
}

const countText = ({ length }: readonly DashboardKey[]): string => plural(length, { one: '# key', other: '# keys' });

const Subject = ({ keys, search }: { keys: readonly DashboardKey[]; search: KeysSearch }) =>
  keys.length > MOST_NAMED ? (
    <Anchor underline="always" renderRoot={(props) => <Link {...props} to="/settings/keys" search={search} />}>
      {countText(keys)}
    </Anchor>
  ) : (
    keys.map(({ id, name }, i) => (
      <span key={id}>
        {i > 0 && ', '}
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
