import { t } from '@lingui/core/macro';
import { type ReactNode, useEffect, useRef } from 'react';
import css from './drawer.module.css';
import { Icon } from './icon.tsx';
import { isShortcut, keysText } from './shortcuts.ts';

/**
 * One record beside the list that it is from; not modal. From 1280 px the list makes way (`data-drawer`, see the
 * shell), below it covers it. `actions`: icon buttons beside the one that closes.
 */
export function Drawer(props: {
  label: string;
  title: string;
  actions: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const { label, title, actions, onClose, children } = props;
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.focus({ preventScroll: true }), []);
  return (
    <section
      ref={place}
      className={css.drawer}
      data-drawer
      aria-label={label}
      tabIndex={-1}
      onKeyDown={({ nativeEvent }) => {
        if (isShortcut('close', nativeEvent)) onClose();
      }}
    >
      <header>
        <h2>{title}</h2>
        {actions}
        <DrawerButton icon="x" label={t`Close`} onClick={onClose} />
      </header>
      <div className={css.body}>{children}</div>
    </section>
  );
}

/** To the row above (-1) or below (1). */
export const DrawerSteps = ({ onStep }: { onStep: (by: -1 | 1) => void }) => (
  <>
    <DrawerButton icon="arrow-up" label={t`Previous (${keysText('previous')})`} onClick={() => onStep(-1)} />
    <DrawerButton icon="arrow-down" label={t`Next (${keysText('next')})`} onClick={() => onStep(1)} />
  </>
);

const DrawerButton = (props: {
  icon: 'x' | 'arrow-up' | 'arrow-down';
  label: string;
  disabled?: boolean;
  onClick: () => void;
}) => (
  <button
    type="button"
    className={css.button}
    aria-label={props.label}
    disabled={props.disabled}
    onClick={props.onClick}
  >
    <Icon name={props.icon} />
  </button>
);
