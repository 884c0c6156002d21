import { Alert, AppShell, Box, Burger, Group, NavLink, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Navigate, Outlet, useLocation, useMatches } from '@tanstack/react-router';
import { useRef } from 'react';
import { useAccountOrNull, useHasRole, useSession } from '../api/session.ts';
import { AccountMenu } from './account-menu.tsx';
import { LowBalanceBanner } from './low-balance.tsx';
import { NoAccount } from './no-account.tsx';
import { SecondFactorRequired } from './second-factor-required.tsx';
import { useFocusOnNavigation } from './use-focus-on-navigation.ts';

const ACCOUNT_PAGES = [
  ['/', 'Overview'],
  ['/usage', 'Usage'],
  ['/verify', 'Verify'],
  ['/log', 'Log'],
  ['/filters', 'Filters'],
  ['/settings/keys', 'API keys'],
  ['/account', 'Account'],
  ['/account/ledger', 'Credit ledger'],
  ['/account/members', 'Members'],
] as const;
const OPERATOR_PAGES = [
  ['/operator', 'Accounts'],
  ['/operator/doctor', 'Doctor'],
  ['/operator/lists', 'Lists'],
  ['/operator/jobs', 'Failed jobs'],
  ['/operator/sign-ins', 'Sign-ins'],
] as const;
/** Pages that do not need an account. */
const ACCOUNTLESS_PAGES = ['/security', '/operator'];

/** Layout of all signed-in pages: header, navigation and content. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname, href } = useLocation();
  // Of the page that is shown: until the next one is loaded, that is the previous one.
  const shown = useMatches({ select: (matches) => matches.at(-1)?.pathname ?? pathname });
  const { user } = useSession();
  const account = useAccountOrNull();
  const isAdmin = useHasRole('admin');
  const main = useFocusOnNavigation(pathname);
  const burger = useRef<HTMLButtonElement>(null);
  const link = ([to, label]: readonly [string, string]) => (
    <NavLink
      key={to}
      component={Link}
      to={to}
      // Set below: the router would also mark "Account" as active on "Members".
      activeOptions={{ exact: true }}
      onClick={close}
      label={label}
      active={isCurrent(pathname, to)}
      aria-current={isCurrent(pathname, to) ? 'page' : undefined}
    />
  );
  // The session has ended. This layout is still rendered while navigating to the sign-in page.
  if (user === null) return pathname === '/sign-in' ? null : <Navigate to="/sign-in" search={{ next: href }} replace />;
  const needsAccount = !ACCOUNTLESS_PAGES.some((start) => shown.startsWith(start));
  const isLockedOut = account?.second_factor_required === true && !user.with_second_factor;
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 210, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger
              ref={burger}
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? 'Close menu' : 'Open menu'}
              aria-expanded={opened}
            />
            <Text fw={700}>Mailvet</Text>
          </Group>
          <AccountMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        aria-label="Pages"
        className={opened ? '' : 'closed-on-phones'}
        onKeyDown={({ key }) => {
          if (key !== 'Escape' || !opened) return;
          close();
          burger.current?.focus();
        }}
      >
        <Box p="xs" style={{ overflowY: 'auto' }}>
          {account && ACCOUNT_PAGES.map(link)}
          {account && isAdmin && link(['/account/trail', 'Audit log'])}
          {link(['/security', 'Sign-in and security'])}
          {user.operator && (
            <>
              <Text size="xs" c="dimmed" px="sm" pt="md" pb={4}>
                Operator
              </Text>
              {OPERATOR_PAGES.map(link)}
            </>
          )}
          <NavLink component="a" href="/docs" label="API reference" mt="md" />
        </Box>
      </AppShell.Navbar>
      <AppShell.Main id="content" ref={main} tabIndex={-1} style={{ outline: 'none' }}>
        {account?.status === 'suspended' && (
          <Alert color="red" variant="outline" mb="md" title="This account is suspended">
            Its API keys are rejected. Contact the operator of this service.
          </Alert>
        )}
        {account && needsAccount && !isLockedOut && <LowBalanceBanner />}
        {!needsAccount ? <Outlet /> : !account ? <NoAccount /> : isLockedOut ? <SecondFactorRequired /> : <Outlet />}
      </AppShell.Main>
    </AppShell>
  );
}

const isCurrent = (pathname: string, to: string): boolean =>
  pathname === to ||
  (to !== '/' && to !== '/account' && to !== '/operator' && pathname.startsWith(`${to}/`)) ||
  (to === '/operator' && pathname.startsWith('/operator/accounts'));
