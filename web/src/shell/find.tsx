import { t } from '@lingui/core/macro';
import { Button, VisuallyHidden } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type KeyboardEvent, type ReactNode, Suspense, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { ADDRESS_LENGTH } from '../../../src/kernel/facts/limits.ts';
import { focusContent, focusOnMount } from '../parts/focus.ts';
import { Icon } from '../parts/icon.tsx';
import { lazyPart, PartBoundary } from '../parts/lazy.tsx';
import { messageOf } from '../parts/message-of.ts';
import { ariaKeys, isShortcut, keysText, useShortcut } from '../parts/shortcuts.ts';
import { takeEarlyFind } from './early-find.ts';
import css from './shell.module.css';

/** Loaded when first wanted, to keep the first view small. */
const Palette = lazyPart(() => import('./palette/palette.tsx'), 'Palette');
const ShortcutsDialog = lazyPart(() => import('./shortcuts-dialog.tsx'), 'ShortcutsDialog');

/**
 * Of the palette's field, also while the palette is still loading; before the page reacts, index.html has one like
 * it.
 */
const FIELD = {
  'aria-label': t`Find a page, a record or an action`,
  placeholder: t`A page, an address, an ID, a list`,
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
  const [explaining, shortcuts] = useDisclosure(false, { onOpen: () => void ShortcutsDialog.preload?.() });
  const preload = () => void Palette.preload?.();
  const open = () => {
    // Also where it could not be loaded before.
    preload();
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
  // The page's own field goes, and this one comes, before the next key is pressed.
  useLayoutEffect(() => {
    const early = takeEarlyFind();
    if (early === null) return;
    setQuery(early.query);
    setEntered(early.entered);
    setOpened(true);
  }, []);
  useShortcut('palette', open);
  useShortcut('help', shortcuts.open);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter') setEntered(true);
    else if (event.key === 'Escape' || isShortcut('palette', event.nativeEvent)) close(false);
    else return;
    event.preventDefault();
  };
  const box = (failure: ReactNode) => (
    <div role="dialog" aria-modal="true" aria-label={t`Find`}>
      <input
        {...FIELD}
        className="find-field"
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {failure}
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
        <VisuallyHidden>{t`Find`}</VisuallyHidden>
        <span className={css.words} aria-hidden>{t`Find`}</span>
        <kbd className={css.words} aria-hidden>
          {keysText('palette')}
        </kbd>
      </button>
      {opened && (
        <PartBoundary part={Palette} failed={(error, again) => box(<Failure of={error} onRetry={again} />)}>
          <Suspense fallback={box(null)}>
            <Palette
              field={FIELD}
              query={query}
              onQuery={setQuery}
              entered={entered}
              hasRecords={hasRecords}
              onShortcuts={shortcuts.open}
              onClose={close}
            />
          </Suspense>
        </PartBoundary>
      )}
      {explaining && (
        <PartBoundary
          part={ShortcutsDialog}
          failed={(error, again) => <Failure of={error} onRetry={again} onClose={shortcuts.close} />}
        >
          <Suspense fallback={null}>
            <ShortcutsDialog onClose={shortcuts.close} />
          </Suspense>
        </PartBoundary>
      )}
    </>
  );
}

/** Over the page, which stays as it is. */
const Failure = (props: { of: Error; onRetry: () => void; onClose?: () => void }) => (
  <div role="alert" className={css.failure}>
    <span>{messageOf(props.of)}</span>
    <Button size="xs" onClick={props.onRetry}>{t`Try again`}</Button>
    {props.onClose && <Button size="xs" onClick={props.onClose}>{t`Close`}</Button>}
  </div>
);
