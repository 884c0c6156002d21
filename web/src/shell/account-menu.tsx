import { type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { openAccount } from '../api/account-path.ts';
import { useAccountOrNull, useSession } from '../api/session.ts';
import { signOut } from '../api/sign-out.ts';
import { type MenuProps, useOpenedMenu } from '../parts/lazy-menu.tsx';
import { samePage } from './pages.ts';

/**
 * Account selection, color scheme and sign-out. It is rendered when it is wanted, and opens. `children`: the button, in
 * `target`.
 */
export function AccountMenu({ target, children }: MenuProps) {
  const { user, accounts } = useSession();
  const account = useAccountOrNull();
  const pathname = useLocation({ select: ({ pathname }) => pathname });
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const menu = useOpenedMenu(target);
  return (
    <Menu position="bottom-start" width={260} {...menu}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown aria-label="Account and settings">
        {accounts.length > 1 && (
          <>
            <Menu.Label>Account</Menu.Label>
            <Menu.RadioGroup value={account?.live ?? ''} onChange={(id) => openAccount(id, samePage(pathname))}>
              {accounts.map(({ id, name, role }) => (
                <Menu.RadioItem key={id} value={id} className="anywhere">
                  {name} ({role})
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.Divider />
          </>
        )}
        <Menu.Label>Appearance</Menu.Label>
        <Menu.RadioGroup
          value={colorScheme}
          onChange={(chosen) => setColorScheme(SCHEMES.find((scheme) => scheme === chosen) ?? 'auto')}
        >
          {SCHEMES.map((scheme) => (
            <Menu.RadioItem key={scheme} value={scheme}>
              {SCHEME_LABELS[scheme]}
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

const SCHEME_LABELS: Readonly<Record<MantineColorScheme, string>> = { light: 'Light', dark: 'Dark', auto: 'System' };
const SCHEMES = keysOf(SCHEME_LABELS);
