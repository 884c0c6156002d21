import { type RefObject, useEffect, useRef, useState } from 'react';

/**
 * For forms whose fields are controlled: focuses the first invalid field after each submit, and when the server answers
 * with an error.
 */
export function useFocusInvalid(error: Error | null): {
  form: RefObject<HTMLFormElement | null>;
  /** To be called on every submit. */
  onAttempt: () => void;
} {
  const form = useRef<HTMLFormElement>(null);
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    if (attempts === 0) return;
    // The message of a field or of a group is in its wrapper.
    const message = form.current?.querySelector('.mantine-InputWrapper-error');
    const field = message?.closest('.mantine-InputWrapper-root')?.querySelector('input, textarea, select');
    if (field instanceof HTMLElement) field.focus();
  }, [attempts, error]);
  return { form, onAttempt: () => setAttempts((n) => n + 1) };
}
