import { VisuallyHidden } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazyRouteComponent } from '@tanstack/react-router';
import { type KeyboardEvent, Suspense, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { ADDRESS_LENGTH } from '../../../src/kernel/facts/limits.ts';
import { focusContent, focusOnMount } from '../parts/focus.ts';
import { Icon } from '../parts/icon.tsx';
import { ariaKeys, isShortcut, keysText, useShortcut } from '../parts/shortcuts.ts';
import css from './shell.module.css';

/** Loaded when first wanted, to keep the first view small; a file that is gone reloads the page, as with pages. */
const Palette = lazyRouteComponent(() => import('./palette/palette.tsx'), 'Palette');
const ShortcutsDialog = lazyRouteComponent(() => import('./shortcuts-dialog.tsx'), 'ShortcutsDialog');

/** Of the palette's field, also while the palette is still loading. */
const FIELD = {
  'aria-label': 'Find a page, a record or an action',
  placeholder: 'A page, an address, an ID, a list',
  maxLength: ADDRESS_LENGTH.max,
  autoComplete: 'off',
  autoCapitalize: 'none',
  spellCheck: false,
  // At once: what is typed next belongs here.
  ref: focusOnMount,
  'data-autofocus': true,
} as const;

/** The button of the command palette, the palette, and the dialog with all shortcuts. `hasRecords`: see Palette. */
export function Find({ hasRecords }: { hasRecords: boolean }) {
  const [opened, setOpened] = useState(false);
  const [query, setQuery] = useState('');
  /** Enter was pressed before there was anything to choose. */
  const [entered, setEntered] = useState(false);
  const opener = useRef<Element>(null);
  const [explaining, shortcuts] = useDisclosure();
  const open = () => {
    opener.current = document.activeElement;
    // The field is there, and has the focus, before the next key is pressed.
    flushSync(() => setOpened(true));
  };
  const close = (chosen: boolean) => {
    setOpened(false);
    setQuery('');
    setEntered(false);
    if (chosen) focusContent();
    else if (opener.current instanceof HTMLElement) opener.current.focus();
  };
  useShortcut('palette', open);
  useShortcut('help', shortcuts.open);
  const preload = () => void Palette.preload?.();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter') setEntered(true);
    else if (event.key === 'Escape' || isShortcut('palette', event.nativeEvent)) close(false);
    else return;
    event.preventDefault();
  };
  const loading = (
    <div role="dialog" aria-modal="true" aria-label="Find">
      <input
        {...FIELD}
        className={css.opening}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </div>
  );
  return (
    <>
      <button
        type="button"
        className={css.find}
        aria-haspopup="dialog"
        aria-keyshortcuts={ariaKeys('palette')}
        onClick={open}
        onPointerEnter={preload}
        onFocus={preload}
      >
        <Icon name="search" />
        <VisuallyHidden>Find</VisuallyHidden>
        <span className={css.words} aria-hidden>
          Find
        </span>
        <kbd className={css.words} aria-hidden>
          {keysText('palette')}
        </kbd>
      </button>
      <Suspense fallback={loading}>
        {opened && (
          <Palette
            field={FIELD}
            query={query}
            onQuery={setQuery}
            entered={entered}
            hasRecords={hasRecords}
            onShortcuts={shortcuts.open}
            onClose={close}
          />
        )}
      </Suspense>
      <Suspense fallback={null}>{explaining && <ShortcutsDialog onClose={shortcuts.close} />}</Suspense>
    </>
  );
}
