/** A `ref` that focuses the element when it is mounted. */
export const focusOnMount = (element: HTMLElement | null): void => element?.focus();

/** Moves the focus to the page content after the focused element was removed. */
export const focusContent = (): void => document.getElementById('content')?.focus();
