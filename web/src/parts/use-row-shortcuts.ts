import { useEffect } from 'react';

/** J and K open the row below and above. */
export function useRowShortcuts(step: (by: -1 | 1) => void): void {
  useEffect(() => {
    const onKey = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      if (
        ctrlKey ||
        metaKey ||
        altKey ||
        (target instanceof Element && target.closest('input, textarea, select, [role=dialog], [role=menu]'))
      )
        return;
      if (key === 'j') step(1);
      if (key === 'k') step(-1);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });
}
