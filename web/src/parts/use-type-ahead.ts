import { type KeyboardEvent, useRef } from 'react';

/** Letters typed within this time belong together, in milliseconds. */
const TYPED_TOGETHER_MS = 700;

/** In a menu, typed letters move the focus to the next item that begins with them (ARIA Authoring Practices, Menu). */
export function useTypeAhead() {
  const typed = useRef({ text: '', at: 0 });
  return ({ key, currentTarget, timeStamp, ctrlKey, metaKey, altKey }: KeyboardEvent<HTMLElement>) => {
    if (key.length !== 1 || key === ' ' || ctrlKey || metaKey || altKey) return;
    const { text, at } = typed.current;
    const isOn = timeStamp - at < TYPED_TOGETHER_MS;
    const now = `${isOn ? text : ''}${key.toLowerCase()}`;
    typed.current = { text: now, at: timeStamp };
    const items = [...currentTarget.querySelectorAll<HTMLElement>('[role^=menuitem]')];
    const focused = items.findIndex((item) => item.matches(':focus'));
    // A letter alone goes on from the focus; more of them keep to it while it fits.
    const from = Math.max(0, isOn ? focused : focused + 1);
    const order = [...items.slice(from), ...items.slice(0, from)];
    order.find(({ textContent }) => textContent.trim().toLowerCase().startsWith(now))?.focus();
  };
}
