import { VisuallyHidden } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense } from 'react';
import { Icon } from '../parts/icon.tsx';
import { ariaKeys, keysText, useShortcut } from '../parts/shortcuts.ts';
import css from './shell.module.css';

/** Loaded when first opened, to keep the first view small; a file that is gone reloads the page, as with pages. */
const Palette = lazyRouteComponent(() => import('./palette/palette.tsx'), 'Palette');
const ShortcutsDialog = lazyRouteComponent(() => import('./shortcuts-dialog.tsx'), 'ShortcutsDialog');

/** The button of the command palette, the palette, and the dialog with all shortcuts. `hasRecords`: see Palette. */
export function Find({ hasRecords }: { hasRecords: boolean }) {
  const [finding, palette] = useDisclosure();
  const [explaining, shortcuts] = useDisclosure();
  useShortcut('palette', palette.open);
  useShortcut('help', shortcuts.open);
  return (
    <>
      <button
        type="button"
        className={css.find}
        aria-haspopup="dialog"
        aria-keyshortcuts={ariaKeys('palette')}
        onClick={palette.open}
        onPointerEnter={() => void Palette.preload?.()}
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
      <Suspense fallback={null}>
        {finding && <Palette hasRecords={hasRecords} onShortcuts={shortcuts.open} onClose={palette.close} />}
        {explaining && <ShortcutsDialog onClose={shortcuts.close} />}
      </Suspense>
    </>
  );
}
