/** As a `ref`: takes the focus when it appears, for what opens in the place of what had it. */
export const takeFocus = (element: HTMLElement | null): void => element?.focus();
