import { flushSync } from 'react-dom';
import { queryClient } from '../api/query-client.ts';
import { typeInto } from '../parts/drafts.ts';
import { router } from '../routes.tsx';
import { KNOWN_ID, type Known } from './known.ts';

/** What can have the focus: buttons cannot before the page reacts. */
const FOCUSABLE = 'a[href], input';

/**
 * Replaces what the service rendered by the same content that reacts. It is replaced in one step, once the page's
 * scripts and data are here, so that nothing flickers; what was typed meanwhile and the focus stay, and a form that was
 * submitted is submitted then.
 */
export async function takeOver(container: HTMLElement, render: () => void): Promise<void> {
  const known = document.getElementById(KNOWN_ID);
  for (const [key, data] of JSON.parse(known?.textContent ?? '[]') as Known) queryClient.setQueryData(key, data);
  known?.remove();
  await router.load();
  const typed = [...container.querySelectorAll('input')].filter(({ value }) => value !== '');
  const focusable = (): (Element | null)[] => [...container.querySelectorAll(FOCUSABLE)];
  const focusedAt = focusable().indexOf(document.activeElement);
  const focused = focusable()[focusedAt];
  const submitted = container.querySelector('form[aria-busy=true]') !== null;
  container.removeAttribute('data-first-view');
  flushSync(render);
  const fieldNow = ({ name }: HTMLInputElement) => container.querySelector<HTMLInputElement>(`input[name="${name}"]`);
  for (const field of typed) {
    const now = fieldNow(field);
    if (now !== null) typeInto(now, field.value);
  }
  const now = focused && focusable()[focusedAt];
  if (now instanceof HTMLElement) {
    now.focus({ preventScroll: true });
    // Fields for email addresses have no selection.
    if (focused instanceof HTMLInputElement && now instanceof HTMLInputElement && focused.selectionStart !== null)
      now.setSelectionRange(focused.selectionStart, focused.selectionEnd);
  }
  if (submitted) container.querySelector('form')?.requestSubmit();
}
