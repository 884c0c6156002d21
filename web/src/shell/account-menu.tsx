import { type MantineColorScheme, Menu, useMantineColorScheme, VisuallyHidden } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { openAccount } from '../api/account-path.ts';
import { useAccountOrNull, useSession } from '../api/session.ts';
import { endSession, redirectToSignIn } from '../api/sign-out.ts';
import { Icon } from '../parts/icon.tsx';
import { keysOf } from '../parts/keys-of.ts';
import { notify } from '../parts/notify.tsx';
import css from './shell.module.css';
import { samePage } from './test-mode.tsx';

const SCHEME_LABELS: Readonly<Record<MantineColorScheme, string>> = { light: 'Light', dark: 'Dark', auto: 'System' };
const SCHEMES = keysOf(SCHEME_LABELS);

export const signOut = (): Promise<void> =>
  endSession().then(redirectToSignIn, (error: Error) => notify(`Could not sign out. ${error.message}`));

/** Account selection, color scheme and sign-out. */
export function AccountMenu() {
  const { user, accounts } = useSession();
  const account = useAccountOrNull();
  const pathname = useLocation({ select: ({ pathname }) => pathname });
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const name = account?.name ?? user?.name ?? '';
  return (
    <Menu position="bottom-start" width={260} withinPortal={false}>
      <Menu.Target>
        <button type="button" className={css.account}>
          <span className={css.tile} aria-hidden>
            {name.slice(0, 1).toUpperCase()}
          </span>
          <span>
            {name}
            <VisuallyHidden>: account and settings</VisuallyHidden>
          </span>
          <Icon name="selector" />
        </button>
      </Menu.Target>
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
