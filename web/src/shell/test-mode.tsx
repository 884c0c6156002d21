import { t } from '@lingui/core/macro';
import { Anchor, Text } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { pathOf } from '../api/account-path.ts';
import { useAccountOrNull } from '../api/session.ts';
import { Page } from '../parts/page.tsx';
import { isLiveOnly, samePage } from './pages.ts';
import css from './shell.module.css';

/** Links to the live data and the test data of the account. */
export function ModeSwitch({ pathname }: { pathname: string }) {
  const account = useAccountOrNull();
  if (account === null) return null;
  const { live, test_account, test } = account;
  const page = samePage(pathname);
  return (
    <nav className={css.modes} aria-label={t`Mode`}>
      <a href={pathOf(live, page)} aria-current={test ? undefined : 'true'}>{t`Live`}</a>
      <a
        href={pathOf(test_account, isLiveOnly(page) ? '/' : page)}
        aria-current={test ? 'true' : undefined}
      >{t`Test`}</a>
    </nav>
  );
}

/** The edge of an airmail envelope, on every page in test mode. */
export const TestModeEdge = () => (useAccountOrNull()?.test ? <div className={css.edge} aria-hidden /> : null);

/** In place of a page about the account itself. */
export function NotInTestMode() {
  const account = useAccountOrNull();
  const pathname = useLocation({ select: ({ pathname }) => pathname });
  return (
    <Page title={t`Not in test mode`}>
      <Text
        maw={640}
      >{t`Test mode has data of its own, but no members, settings or credits. They are those of the account.`}</Text>
      {account && <Anchor href={pathOf(account.live, samePage(pathname))} fz="sm">{t`Switch to live mode`}</Anchor>}
    </Page>
  );
}
