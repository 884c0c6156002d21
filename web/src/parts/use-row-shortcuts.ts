import { useShortcut } from './shortcuts.ts';

/** Opens the row below and above. */
export function useRowShortcuts(step: (by: -1 | 1) => void): void {
  useShortcut('next', () => step(1));
  useShortcut('previous', () => step(-1));
}
