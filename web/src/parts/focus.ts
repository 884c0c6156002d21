/** A `ref` that focuses the element when it is mounted; in a first view, only where the user has not gone elsewhere. */
export function focusOnMount(element: HTMLElement | null): void {
  if (element?.closest('[data-first-view]') && document.activeElement !== document.body) return;
  element?.focus();
}

/** Moves the focus to the page content after the focused element was removed. */
export const focusContent = (): void => document.getElementById('content')?.focus();
