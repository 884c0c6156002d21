import type { KeyboardEvent } from 'react';

const BESIDE: Readonly<Record<string, 'previousElementSibling' | 'nextElementSibling'>> = {
  ArrowLeft: 'previousElementSibling',
  ArrowRight: 'nextElementSibling',
};

/** Moves the focus within a toolbar, whose children are its stops (WAI-ARIA APG, "Toolbar"). */
export function moveWithArrows(event: KeyboardEvent): void {
  const beside = BESIDE[event.key];
  const next = beside === undefined ? null : document.activeElement?.[beside];
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}
