import { t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Alert, Anchor, Button, Group, Text, VisuallyHidden } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, Outlet, useLocation, useMatches } from '@tanstack/react-router';
import { type ComponentProps, useRef, useState } from 'react';
import { PAGES, type PagePath } from '../../../src/kernel/facts/pages.ts';
import { overviewQuery } from '../api/account.ts';
import { needsAccount, pinnedAccount } from '../api/account-path.ts';
import { sessionQuery, useAccount, useAccountOrNull, useSession } from '../api/session.ts';
import { signOut } from '../api/sign-out.ts';
import { factText } from '../parts/fact-text.ts';
import { formatDateTime, formatNumber } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { KeptTime, useKeptTime, useTimeToKeep } from '../parts/kept-time.ts';
import { lazyPart } from '../parts/lazy.tsx';
import { LazyMenu } from '../parts/lazy-menu.tsx';
import { Wordmark } from '../parts/mark.tsx';
import { openedParameters } from '../parts/opened-parameters.ts';
import { Page } from '../parts/page.tsx';
import { usePageTitle } from '../parts/page-title.ts';
import { ColorSchemeToggle } from './color-scheme-toggle.tsx';
import { Find } from './find.tsx';
import { isCurrent, isLiveOnly, isOfOperator, sectionOf, useNavGroups } from './pages.ts';
import { useRecordVisit } from './palette/recent.ts';
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
  const time = useTimeToKeep();
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
    <KeptTime value={time}>
      <div className={css.frame} {...(opened ? { 'data-nav': true } : {})}>
        {needsAccount(shown) && <TestModeEdge />}
        <a className="skip-link" href="#content">{t`Skip to content`}</a>
        <Side
          pathname={pathname}
          who={account === null ? user.name : `${user.name}, ${factText(account.role)}`}
          onClose={close}
          onEscape={() => {
            if (!opened) return;
            close();
            burger.current?.focus();
          }}
        />
        <div>
          <header className={css.top}>
            <button
              type="button"
              ref={burger}
              className={css.burger}
              onClick={opened ? close : open}
              aria-label={opened ? t`Close menu` : t`Open menu`}
              aria-expanded={opened}
              aria-controls="pages"
            >
              <Icon name="menu-2" />
            </button>
            <Place account={needsAccount(shown) ? (account?.name ?? null) : null} pathname={shown} />
            <Find hasRecords={!isLockedOut} />
            {needsAccount(shown) && <ModeSwitch pathname={pathname} />}
          </header>
          <main className={css.main} id="content" ref={main} tabIndex={-1}>
            {account?.status === 'suspended' && (
              <Alert
                color="red"
                variant="outline"
                className={css.notice}
                title={t`This account is suspended`}
              >{t`Its API keys are rejected. Contact the operator of this service.`}</Alert>
            )}
            <IgnoredParameters />
            <MailServersBanner path={shown} />
            {account && needsAccount(shown) && !isLockedOut && <LowBalanceBanner />}
            {isOfOperator(shown) && <OperatorTabs pathname={pathname} />}
            {content()}
          </main>
        </div>
        <button type="button" tabIndex={-1} className={css.scrim} onClick={close} aria-hidden="true" />
      </div>
    </KeptTime>
  );
}

/** Navigation at the side; in a narrow window, a menu that opens. */
function Side(props: { pathname: string; who: string; onClose: () => void; onEscape: () => void }) {
  const { pathname, who, onClose, onEscape } = props;
  return (
    <nav id="pages" className={css.side} aria-label={t`Pages`} onKeyDown={({ key }) => key === 'Escape' && onEscape()}>
      <Link
        to="/"
        className={css.brand}
        onClick={onClose}
        aria-label={t`Mailvet: overview`}
        activeProps={{ 'aria-current': undefined }}
      >
        <Wordmark />
      </Link>
      <AccountButton />
      <Navigation pathname={pathname} onLeave={onClose} />
      <div className={css.who}>
        <span>{who}</span>
        <ColorSchemeToggle />
      </div>
    </nav>
  );
}

/** Links to all pages that the user may open; those for operators are one. */
function Navigation({ pathname, onLeave }: { pathname: string; onLeave: () => void }) {
  const time = useKeptTime();
  const counts = useCounts();
  const groups = useNavGroups();
  const isOperator = groups.some((group) => group.name === 'operator');
  return (
    <div className={css.groups}>
      {groups
        .filter((group) => group.name !== 'operator')
        .map(({ title, pages }) => (
          <div key={title}>
            <h2>{title}</h2>
            <ul>
              {pages.map((page) => (
                <li key={page.to}>
                  <Link
                    to={page.to}
                    search={time(page.to)}
                    onClick={onLeave}
                    // Set here: the router would also mark "Account" as current on "Members".
                    activeOptions={{ exact: true }}
                    aria-current={isCurrent(pathname, page.to) ? 'page' : undefined}
                  >
                    <Icon name={page.icon} />
                    {page.label}
                    {counts[page.to] && <span className={css.count}>{counts[page.to]}</span>}
                  </Link>
                </li>
              ))}
              {title === 'Build' && <Documentation onLeave={onLeave} />}
              {title === 'You' && isOperator && (
                <li>
                  <Link
                    to="/operator"
                    onClick={onLeave}
                    activeOptions={{ exact: true }}
                    aria-current={isOfOperator(pathname) ? 'page' : undefined}
                  >
                    <Trans>
                      <Icon name="building" />
                      Operator
                    </Trans>
                  </Link>
                </li>
              )}
            </ul>
          </div>
        ))}
    </div>
  );
}

const Documentation = ({ onLeave }: { onLeave: () => void }) => (
  <>
    <li>
      <Link to="/docs" onClick={onLeave}>
        <Trans>
          <Icon name="code" />
          API reference
        </Trans>
      </Link>
    </li>
    <li>
      <a href="/guide/">
        <Trans>
          <Icon name="book-2" />
          Guide
        </Trans>
      </a>
    </li>
  </>
);

/** What is said beside links, by path. */
function useCounts(): Readonly<Partial<Record<PagePath, string>>> {
  const { user } = useSession();
  const account = useAccountOrNull();
  const isLockedOut = account?.second_factor_required === true && user?.with_second_factor !== true;
  const { data } = useQuery({ ...overviewQuery(account?.id ?? ''), enabled: account !== null && !isLockedOut });
  if (data === undefined) return {};
  const { running_lists: running, filters } = data;
  return {
    ...(running > 0 ? { '/lists': t`${formatNumber(running)} running` } : {}),
    ...(filters > 0 ? { '/filters': formatNumber(filters) } : {}),
  };
}

/** The pages for operators. */
function OperatorTabs({ pathname }: { pathname: string }) {
  const pages = useNavGroups().find((group) => group.name === 'operator')?.pages ?? [];
  if (pages.length === 0) return null;
  return (
    <nav className={css.tabs} aria-label={t`Operator`}>
      {pages.map(({ to, label }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: true }}
          aria-current={isCurrent(pathname, to) ? 'page' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

function NoAccount() {
  return (
    <Page title={t`No account`}>
      <Text
        maw={640}
      >{t`You are not a member of any account. Ask an account owner or admin for an invitation, or ask the operator of this service to add you: mailvet user create --email … --account …`}</Text>
    </Page>
  );
}

/** The URL names an account that does not exist, or that the user is not a member of. */
function UnknownAccount() {
  const { user, accounts } = useSession();
  return (
    <Page title={t`Account not found`}>
      <Text maw={640} className="anywhere">
        <Trans>
          {user?.email} is not a member of the account in this URL, or the account was deleted. Your accounts:
        </Trans>
      </Text>
      <ul>
        {accounts.map(({ id, name }) => (
          <li key={id}>
            <Anchor href={`/accounts/${encodeURIComponent(id)}`} fz="sm">
              {name}
            </Anchor>
          </li>
        ))}
      </ul>
    </Page>
  );
}

/** Says which parameters of the URL were ignored, until the next step. */
function IgnoredParameters() {
  const href = useLocation({ select: ({ href }) => href });
  const search = useMatches({ select: (matches) => matches.at(-1)?.search ?? {} });
  const [first] = useState(href);
  const [ignored] = useState(() => openedParameters.filter((name) => !Object.hasOwn(search, name)));
  if (ignored.length === 0 || href !== first) return null;
  return (
    <Alert variant="outline" mb="md" role="status" className="anywhere">
      {ignored.length === 1
        ? t`A part of this URL is not valid and was ignored: `
        : t`Parts of this URL are not valid and were ignored: `}
      {ignored.join(', ')}.
    </Alert>
  );
}

const AccountMenu = lazyPart(() => import('./account-menu.tsx'), 'AccountMenu');

/** Names the account, and opens its menu. */
function AccountButton() {
  return (
    <LazyMenu part={AccountMenu} of={{}} failure={css.menufailure} button={(props) => <AccountTarget {...props} />} />
  );
}

function AccountTarget(props: ComponentProps<'button'>) {
  const { user } = useSession();
  const name = useAccountOrNull()?.name ?? user?.name ?? '';
  return (
    <button type="button" {...props} className={css.account}>
      <span className={css.tile} aria-hidden>
        {name.slice(0, 1).toUpperCase()}
      </span>
      <span>
        {name}
        <VisuallyHidden>{t`: account and settings`}</VisuallyHidden>
      </span>
      <Icon name="selector" />
    </button>
  );
}

/** Where a mailbox check starts, or its results are summed up. */
const CHECK_PAGES: ReadonlySet<string> = new Set(['/', '/verify', '/lists/new']);
const DOWN = {
  port_closed: t`Mail servers cannot be reached`,
  refused_everywhere: t`Mail servers refuse the address of this service`,
} as const;

/** While no mailbox can be checked: for operators on every page, for others where it matters. */
function MailServersBanner({ path }: { path: string }) {
  const { data } = useQuery({ ...sessionQuery, refetchInterval: 60_000 });
  const down = data?.mail_servers ?? null;
  const isOperator = data?.user?.operator === true;
  if (down === null || (!isOperator && !CHECK_PAGES.has(path))) return null;
  return (
    <Alert
      color="red"
      variant="outline"
      mb="md"
      title={isOperator ? DOWN[down.state] : t`The mailbox check is unavailable`}
    >
      <Trans>
        Since {formatDateTime(down.since)}, results at the level smtp are unknown, and charged as mx.{' '}
        {isOperator && (
          <Anchor component={Link} to="/operator/doctor" underline="always" inherit>{t`Run the doctor`}</Anchor>
        )}
      </Trans>
    </Alert>
  );
}

/** Shown while the balance is below the account's threshold. */
function LowBalanceBanner() {
  const { id } = useAccount();
  const { data } = useQuery(overviewQuery(id));
  if (!data?.is_low || data.low_balance === null) return null;
  return (
    <Alert color="yellow" variant="outline" mb="md" title={t`Low balance`}>
      <Trans>
        <Plural value={data.credits.remaining} one="# credit" other="# credits" /> left, below the threshold of{' '}
        <Plural value={data.low_balance} one="# credit" other="# credits" />.
      </Trans>
    </Alert>
  );
}

/** In place of every page of an account that requires a second factor, in a session begun without one. */
function SecondFactorRequired() {
  const { name } = useAccount();
  const { user } = useSession();
  const hasApp = user?.second_factor === true;
  return (
    <Page title={t`Second factor required`}>
      <Text maw={640} className="anywhere">
        <Trans>
          {name} can only be used with a second factor, and you signed in without one.{' '}
          {hasApp
            ? t`Sign out, then sign in with a code of your authenticator app or with a passkey.`
            : t`Set up an authenticator app now, or sign in with a passkey.`}
        </Trans>
      </Text>
      <Group>
        {!hasApp && <Button component={Link} to="/security" variant="filled">{t`Set up a second factor`}</Button>}
        <Button onClick={() => void signOut()} variant={hasApp ? 'filled' : 'default'}>{t`Sign out`}</Button>
      </Group>
    </Page>
  );
}

/** Account, section and page. */
function Place({ account, pathname }: { account: string | null; pathname: string }) {
  const title = usePageTitle();
  const section = sectionOf(pathname);
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
      {section !== null && (
        <>
          <Link className={css.section} to={section}>
            {PAGES[section].title}
          </Link>
          <span aria-hidden>/</span>
        </>
      )}
      <b title={title}>{title}</b>
    </div>
  );
}
