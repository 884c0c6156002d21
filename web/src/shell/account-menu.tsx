import { Button, Menu, useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { api, unwrap } from '../api/client.ts';
import { chooseAccount, useAccountOrNull, useRefreshSession, useSession } from '../api/session.ts';

const SCHEMES = [
  ['light', 'Light'],
  ['dark', 'Dark'],
  ['auto', 'As the system'],
] as const;

/** Who is signed in, which account is looked at, light or dark, and the way out. */
export function AccountMenu() {
  const { user, accounts } = useSession();
  const account = useAccountOrNull();
  const refresh = useRefreshSession();
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  async function signOut() {
    await unwrap(api.POST('/dashboard/sign-out'));
    await refresh();
    await navigate({ to: '/sign-in', search: { next: '/' } });
  }
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <Button variant="subtle" maw={220} aria-label="Account and settings">
          {account?.name ?? user?.name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {accounts.length > 1 && (
          <>
            <Menu.Label>Account</Menu.Label>
            {accounts.map(({ id, name, role }) => (
              <Menu.Item
                key={id}
                role="menuitemradio"
                aria-checked={id === account?.id}
                onClick={() => chooseAccount(id)}
              >
                {id === account?.id ? '✓ ' : ''}
                {name} ({role})
              </Menu.Item>
            ))}
            <Menu.Divider />
          </>
        )}
        <Menu.Label>Colours</Menu.Label>
        {SCHEMES.map(([scheme, label]) => (
          <Menu.Item
            key={scheme}
            role="menuitemradio"
            aria-checked={scheme === colorScheme}
            onClick={() => setColorScheme(scheme)}
          >
            {scheme === colorScheme ? '✓ ' : ''}
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label className="anywhere">{user?.email}</Menu.Label>
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
