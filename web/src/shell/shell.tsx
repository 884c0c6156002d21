import { Alert } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Navigate, Outlet, useLocation, useMatches } from '@tanstack/react-router';
import { useRef } from 'react';
import { needsAccount, pinnedAccount } from '../api/account-path.ts';
import { useAccountOrNull, useSession } from '../api/session.ts';
import { Icon } from '../parts/icon.tsx';
import { Wordmark } from '../parts/mark.tsx';
import { usePageTitle } from '../parts/page-title.ts';
import { AccountButton } from './account-button.tsx';
import { ColorSchemeToggle } from './color-scheme-toggle.tsx';
import { Find } from './find.tsx';
import { IgnoredParameters } from './ignored-parameters.tsx';
import { LowBalanceBanner } from './low-balance.tsx';
import { Navigation } from './navigation.tsx';
import { NoAccount, UnknownAccount } from './no-account.tsx';
import { isLiveOnly } from './pages.ts';
import { useRecordVisit } from './palette/recent.ts';
import { SecondFactorRequired } from './second-factor-required.tsx';
import css from './shell.module.css';
import { ModeSwitch, NotInTestMode, TestModeEdge } from './test-mode.tsx';
import { useFocusOnNavigation } from './use-focus-on-navigation.ts';

/** Layout of all signed-in pages: navigation at the side, a top bar, and the content. */
export function Shell() {
  const [opened, { open, close }] = useDisclosure();
  const { pathname, publicHref } = useLocation();
  // Of the page that is shown: until the next one is loaded, that is the previous one.
  const shown = useMatches({ select: (matches) => matches.at(-1)?.pathname ?? pathname });
  const { user, accounts } = useSession();
  const account = useAccountOrNull();
  const main = useFocusOnNavigation(pathname);
  useRecordVisit(account?.id ?? null, pathname);
  const burger = useRef<HTMLButtonElement>(null);
  // The session has ended. This layout is still rendered while navigating to the sign-in page.
  if (user === null)
    return pathname === '/sign-in' ? null : <Navigate to="/sign-in" search={{ next: publicHref }} replace />;
  const isLockedOut = account?.second_factor_required === true && !user.with_second_factor;
  const content = () => {
    if (!needsAccount(shown)) return <Outlet />;
    if (account === null) return accounts.length > 0 && pinnedAccount() ? <UnknownAccount /> : <NoAccount />;
    if (isLockedOut) return <SecondFactorRequired />;
    return account.test && isLiveOnly(shown) ? <NotInTestMode /> : <Outlet />;
  };
  return (
    <div className={css.frame} {...(opened ? { 'data-nav': true } : {})}>
      {needsAccount(shown) && <TestModeEdge />}
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <nav
        id="pages"
        className={css.side}
        aria-label="Pages"
        onKeyDown={({ key }) => {
          if (key !== 'Escape' || !opened) return;
          close();
          burger.current?.focus();
        }}
      >
        <Link
          to="/"
          className={css.brand}
          onClick={close}
          aria-label="Mailvet: overview"
          activeProps={{ 'aria-current': undefined }}
        >
          <Wordmark />
        </Link>
        <AccountButton />
        <Navigation pathname={pathname} onLeave={close} />
        <div className={css.who}>
          <span>
            {user.name}
            {account && `, ${account.role}`}
          </span>
          <ColorSchemeToggle />
        </div>
      </nav>
      <div>
        <header className={css.top}>
          <button
            type="button"
            ref={burger}
            className={css.burger}
            onClick={opened ? close : open}
            aria-label={opened ? 'Close menu' : 'Open menu'}
            aria-expanded={opened}
            aria-controls="pages"
          >
            <Icon name="menu-2" />
          </button>
          <Place account={needsAccount(shown) ? (account?.name ?? null) : null} />
          <Find hasRecords={!isLockedOut} />
          {needsAccount(shown) && <ModeSwitch pathname={pathname} />}
        </header>
        <main className={css.main} id="content" ref={main} tabIndex={-1}>
          {account?.status === 'suspended' && (
            <Alert color="red" variant="outline" className={css.notice} title="This account is suspended">
              Its API keys are rejected. Contact the operator of this service.
            </Alert>
          )}
          <IgnoredParameters />
          {account && needsAccount(shown) && !isLockedOut && <LowBalanceBanner />}
          {content()}
        </main>
      </div>
      <button type="button" tabIndex={-1} className={css.scrim} onClick={close} aria-hidden="true" />
    </div>
  );
}

/** Account and page. */
function Place({ account }: { account: string | null }) {
  const title = usePageTitle();
  return (
    <div className={css.crumbs}>
      {account !== null && (
        <>
          <span className={css.up}>{account}</span>
          <span className={css.up} aria-hidden>
            /
          </span>
        </>
      )}
      <b>{title}</b>
    </div>
  );
}
