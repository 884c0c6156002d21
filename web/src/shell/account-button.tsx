import { VisuallyHidden } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { type ComponentProps, startTransition, useRef, useState } from 'react';
import { useAccountOrNull, useSession } from '../api/session.ts';
import { Icon } from '../parts/icon.tsx';
import css from './shell.module.css';

/** With all that menus are made of: loaded when it is first wanted, to keep the first view small. */
const AccountMenu = lazyRouteComponent(() => import('./account-menu.tsx'), 'AccountMenu');

/** Names the account, and opens its menu. */
export function AccountButton() {
  const [isWanted, setWanted] = useState(false);
  const target = useRef<HTMLButtonElement>(null);
  if (isWanted)
    return (
      <AccountMenu target={target}>
        <Button ref={target} />
      </AccountMenu>
    );
  const preload = () => void AccountMenu.preload?.();
  return (
    <Button
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={preload}
      onFocus={preload}
      // Stays until the menu is here.
      onClick={() => startTransition(() => setWanted(true))}
    />
  );
}

function Button(props: ComponentProps<'button'>) {
  const { user } = useSession();
  const name = useAccountOrNull()?.name ?? user?.name ?? '';
  return (
    <button type="button" {...props} className={css.account}>
      <span className={css.tile} aria-hidden>
        {name.slice(0, 1).toUpperCase()}
      </span>
      <span>
        {name}
        <VisuallyHidden>: account and settings</VisuallyHidden>
      </span>
      <Icon name="selector" />
    </button>
  );
}
