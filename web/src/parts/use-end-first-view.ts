import { useEffect } from 'react';
import { typeInto } from './drafts.ts';

let end: () => void;
/** Resolves once no part of what the service rendered waits for React any more. */
export const firstViewEnds = new Promise<void>((resolve) => {
  end = resolve;
});

/** Called by what stands in place of a page. */
export const useHasNoFirstView = (): void => useEffect(end, []);

/** Called where a page reacts: what was typed, left, pressed and sent before is handled now. */
export function useEndFirstView(): void {
  useEffect(() => {
    end();
    const view = document.querySelector<HTMLElement>('[data-first-view]');
    if (view === null) return;
    delete view.dataset.firstView;
    for (const field of view.querySelectorAll('input')) {
      const { value, selectionStart, selectionEnd } = field;
      if (value === field.defaultValue) continue;
      // React took over what it found: only a change is one.
      field.value = '';
      typeInto(field, value);
      // Fields for email addresses have no selection.
      if (selectionStart !== null) field.setSelectionRange(selectionStart, selectionEnd);
      if (field !== document.activeElement) field.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
    }
    for (const pressed of view.querySelectorAll<HTMLElement>('[data-pressed]')) {
      delete pressed.dataset.pressed;
      if (pressed instanceof HTMLFormElement) pressed.requestSubmit();
      else pressed.click();
    }
  }, []);
}
