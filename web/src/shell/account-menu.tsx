import { t } from '@lingui/core/macro';
import { type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { isLanguage, LANGUAGES } from '../../../src/kernel/facts/languages.ts';
import { openAccount } from '../api/account-path.ts';
import { useAccountOrNull, useSession } from '../api/session.ts';
import { signOut } from '../api/sign-out.ts';
import { language } from '../i18n.ts';
import { factText } from '../parts/fact-text.ts';
import { type MenuProps, useOpenedMenu } from '../parts/lazy-menu.tsx';
import { chooseLanguage } from '../parts/preferences.ts';
import { browserTimeZone, chooseTimeZone, chosenTimeZone } from '../parts/time-zone.ts';
import { samePage } from './pages.ts';
import { TimeZoneDialog } from './time-zone-dialog.tsx';

/**
 * Account selection, color scheme, language, time zone and sign-out. It is rendered when it is wanted, and opens.
 * `children`: the button, in `target`.
 */
export function AccountMenu({ target, children }: MenuProps) {
  const { user, accounts } = useSession();
  const account = useAccountOrNull();
  const pathname = useLocation({ select: ({ pathname }) => pathname });
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const menu = useOpenedMenu(target);
  const [isChoosing, setChoosing] = useState(false);
  const zone = chosenTimeZone();
  return (
    <>
      {/* Fixed, as the navigation scrolls and would clip it; a portal would be outside of all landmarks. */}
      <Menu position="bottom-start" width={260} withinPortal={false} floatingStrategy="fixed" {...menu}>
        <Menu.Target>{children}</Menu.Target>
        <Menu.Dropdown aria-label={t`Account and settings`}>
          {accounts.length > 1 && (
            <>
              <Menu.Label>{t`Account`}</Menu.Label>
              <Menu.RadioGroup value={account?.live ?? ''} onChange={(id) => openAccount(id, samePage(pathname))}>
                {accounts.map(({ id, name, role }) => (
                  <Menu.RadioItem key={id} value={id} className="anywhere">
                    {name} ({factText(role)})
                  </Menu.RadioItem>
                ))}
              </Menu.RadioGroup>
              <Menu.Divider />
            </>
          )}
          <Menu.Label>{t`Appearance`}</Menu.Label>
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
          <Menu.Label>{t`Language`}</Menu.Label>
          <Menu.RadioGroup value={language} onChange={(chosen) => isLanguage(chosen) && chooseLanguage(chosen)}>
            {keysOf(LANGUAGES).map((one) => (
              <Menu.RadioItem key={one} value={one} lang={one}>
                {LANGUAGES[one]}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <Menu.Divider />
          <Menu.Label>{t`Time zone`}</Menu.Label>
          <Menu.RadioGroup
            value={zone ?? BROWSER}
            onChange={(chosen) => chooseTimeZone(chosen === BROWSER ? null : chosen)}
          >
            <Menu.RadioItem value={BROWSER}>{t`Of this browser: ${browserTimeZone()}`}</Menu.RadioItem>
            <Menu.RadioItem value="UTC">UTC</Menu.RadioItem>
            {zone !== null && zone !== 'UTC' && <Menu.RadioItem value={zone}>{zone}</Menu.RadioItem>}
          </Menu.RadioGroup>
          <Menu.Item onClick={() => setChoosing(true)}>{t`Other time zone…`}</Menu.Item>
          <Menu.Divider />
          <Menu.Label className="anywhere">{user?.email}</Menu.Label>
          <Menu.Item onClick={() => void signOut()}>{t`Sign out`}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <TimeZoneDialog opened={isChoosing} onClose={() => setChoosing(false)} />
    </>
  );
}

/** Stands for its time zone. */
const BROWSER = 'browser';

const SCHEME_LABELS: Readonly<Record<MantineColorScheme, string>> = { light: t`Light`, dark: t`Dark`, auto: t`System` };
const SCHEMES = keysOf(SCHEME_LABELS);
