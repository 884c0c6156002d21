import { Button, type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core';
import { chooseAccount, useAccountOrNull, useSession } from '../api/session.ts';
import { endSession, leave } from '../api/sign-out.ts';
import { notify } from '../parts/notify.tsx';

const SCHEMES = [
  ['light', 'Light'],
  ['dark', 'Dark'],
  ['auto', 'As the system'],
] as const;

const signOut = () => endSession().then(leave, (error: Error) => notify(`You are still signed in. ${error.message}`));

/** Who is signed in, which account is looked at, light or dark, and the way out. */
export function AccountMenu() {
  const { user, accounts } = useSession();
  const account = useAccountOrNull();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const name = account?.name ?? user?.name;
  return (
    <Menu position="bottom-end" width={260} withinPortal={false}>
      <Menu.Target>
        <Button variant="subtle" maw={220} aria-label={`${name}: account and settings`}>
          {name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown aria-label="Account and settings">
        {accounts.length > 1 && (
          <>
            <Menu.Label>Account</Menu.Label>
            <Menu.RadioGroup value={account?.id ?? ''} onChange={chooseAccount}>
              {accounts.map(({ id, name, role }) => (
                <Menu.RadioItem key={id} value={id} className="anywhere">
                  {name} ({role})
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.Divider />
          </>
        )}
        <Menu.Label>Colours</Menu.Label>
        <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}>
          {SCHEMES.map(([scheme, label]) => (
            <Menu.RadioItem key={scheme} value={scheme}>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Label className="anywhere">{user?.email}</Menu.Label>
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
