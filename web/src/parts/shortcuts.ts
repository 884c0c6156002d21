import { t } from '@lingui/core/macro';
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { createListeners } from './listeners.ts';

interface Shortcut {
  /** As `KeyboardEvent.key`. */
  readonly key: string;
  /** With Ctrl, or ⌘ on a Mac; works in fields too. */
  readonly withControl?: true;
  readonly does: string;
  readonly where: string;
}

/** All shortcuts beside those of the browser and of standard controls: the handlers and the dialog read them here. */
const TABLE = {
  palette: { key: 'k', withControl: true, does: t`Find a page or a record, or start an action`, where: t`Everywhere` },
  help: { key: '?', does: t`Show these shortcuts`, where: t`Everywhere` },
  search: { key: '/', does: t`Go to the search field`, where: t`Pages with a search` },
  next: { key: 'j', does: t`Open the next row`, where: t`Log, rows of a list` },
  previous: { key: 'k', does: t`Open the previous row`, where: t`Log, rows of a list` },
  close: { key: 'Escape', does: t`Close the row`, where: t`Beside a row that is open` },
} as const satisfies Readonly<Record<string, Shortcut>>;
type ShortcutName = keyof typeof TABLE;
export const SHORTCUTS: Readonly<Record<ShortcutName, Shortcut>> = TABLE;
export const SHORTCUT_NAMES = keysOf(SHORTCUTS);

const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);

/** As on the keys: `Ctrl K`, `⌘ K`, `J`. */
export function keysText(name: ShortcutName): string {
  const { key, withControl } = SHORTCUTS[name];
  const shown = key.length === 1 ? key.toUpperCase() : key === 'Escape' ? 'Esc' : key;
  return withControl ? `${isMac() ? '⌘' : 'Ctrl'} ${shown}` : shown;
}

/** For `aria-keyshortcuts` (WAI-ARIA 1.2). */
export const ariaKeys = (name: ShortcutName): string => {
  const { key, withControl } = SHORTCUTS[name];
  return withControl ? `${isMac() ? 'Meta' : 'Control'}+${key.toUpperCase()}` : key;
};

/** Where keys are typed or have a meaning of their own. */
const TAKEN = 'input, textarea, select, [contenteditable], [role=menu], [role=listbox]';

/** Whether the event is this shortcut. Single characters may be switched off (WCAG 2.2 §2.1.4). */
export function isShortcut(name: ShortcutName, event: KeyboardEvent): boolean {
  const { key, withControl = false } = SHORTCUTS[name];
  const { ctrlKey, metaKey, altKey, target } = event;
  if (altKey || event.isComposing) return false;
  if (withControl) return (isMac() ? metaKey && !ctrlKey : ctrlKey && !metaKey) && event.key.toLowerCase() === key;
  if (ctrlKey || metaKey || event.key !== key) return false;
  if (key.length > 1) return true;
  return singleKeysOn() && !(target instanceof Element && target.closest(TAKEN) !== null);
}

/** Runs `act` for the shortcut, anywhere on the page, as long as no modal dialog is open; null: does not apply now. */
export function useShortcut(name: ShortcutName, act: (() => void) | null): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (act === null || event.defaultPrevented || !isShortcut(name, event)) return;
    if (document.querySelector('[aria-modal=true]') !== null) return;
    event.preventDefault();
    act();
  });
  useEffect(() => {
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

const STORAGE_KEY = 'mailvet.single-keys';
const OFF = 'off';
const listeners = createListeners();

const singleKeysOn = (): boolean => localStorage.getItem(STORAGE_KEY) !== OFF;

/** Whether shortcuts of a single character work in this browser. */
export const useSingleKeys = (): boolean => useSyncExternalStore(listeners.subscribe, singleKeysOn);

export function setSingleKeys(on: boolean): void {
  if (on) localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, OFF);
  listeners.changed();
}
