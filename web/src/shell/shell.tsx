import { Alert, AppShell, Box, Burger, Group, NavLink, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Navigate, Outlet, useLocation } from '@tanstack/react-router';
import { useRef } from 'react';
import { useAccountOrNull, useMay, useSession } from '../api/session.ts';
import { AccountMenu } from './account-menu.tsx';
import { LowBalance } from './low-balance.tsx';
import { NoAccount } from './no-account.tsx';
import { useFocusOnArrival } from './use-focus-on-arrival.ts';

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
] as const;
/** Pages that need no account. */
const OWN_PAGES = ['/security', '/operator'];

/** The frame of every page inside: where one is, where one can go, who one is. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname, href } = useLocation();
  const { user } = useSession();
  const account = useAccountOrNull();
  const mayAdmin = useMay('admin');
  const main = useFocusOnArrival(pathname);
  const burger = useRef<HTMLButtonElement>(null);
  const link = ([to, label]: readonly [string, string]) => (
    <NavLink
      key={to}
      component={Link}
      to={to}
      // Judged below: by itself the router would mark a page for every one under it, "Account" on "Members" too.
      activeOptions={{ exact: true }}
      onClick={close}
      label={label}
      active={isAt(pathname, to)}
      aria-current={isAt(pathname, to) ? 'page' : undefined}
    />
  );
  // It ended elsewhere, or ran out. On the way to the sign-in this frame is still here for a moment.
  if (user === null) return pathname === '/sign-in' ? null : <Navigate to="/sign-in" search={{ next: href }} replace />;
  const needsAccount = !OWN_PAGES.some((start) => pathname.startsWith(start));
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 210, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a className="skip-link" href="#content">
        Skip to the content
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
              aria-label={opened ? 'Close the menu' : 'Open the menu'}
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
          {account && mayAdmin && link(['/account/trail', 'Audit log'])}
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
            Its keys are refused. Ask who runs this service.
          </Alert>
        )}
        {account && needsAccount && <LowBalance />}
        {account || !needsAccount ? <Outlet /> : <NoAccount />}
      </AppShell.Main>
    </AppShell>
  );
}

const isAt = (pathname: string, to: string): boolean =>
  pathname === to ||
  (to !== '/' && to !== '/account' && to !== '/operator' && pathname.startsWith(`${to}/`)) ||
  (to === '/operator' && pathname.startsWith('/operator/accounts'));
