/** As a `ref`: takes the focus when it appears, for what opens in the place of what had it. */
export const takeFocus = (element: HTMLElement | null): void => element?.focus();

/** Where the keyboard goes on when what had the focus is gone for good: at the beginning of the page. */
export const focusContent = (): void => document.getElementById('content')?.focus();
