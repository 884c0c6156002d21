import { t } from '@lingui/core/macro';
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { ApiError, type ErrorCode } from '../api/client.ts';
import { handleApiError } from '../api/query-client.ts';

/** Values of a form by field name. */
type Values = Readonly<Record<string, string>>;

export interface Submission {
  readonly form: RefObject<HTMLFormElement | null>;
  readonly busy: boolean;
  /** An error that no field shows. */
  readonly error: Error | null;
  /** Props of a field. */
  readonly field: (name: string) => { name: string; required: true; withAsterisk: false; error: string | undefined };
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  readonly onInput: (event: FormEvent<HTMLFormElement>) => void;
}

interface Problems {
  readonly fields: Values;
  readonly error: Error | null;
  /** What to focus. */
  readonly focus: HTMLElement | null;
}

const NO_PROBLEMS: Problems = { fields: {}, error: null, focus: null };

/**
 * An uncontrolled form: passwords and codes are read from the DOM on submit and stored nowhere. An error is shown at
 * its field, which gets the focus. `likelyField`: the field that an error without a field most likely concerns.
 */
export function useSubmit(send: (values: Values) => Promise<unknown>, likelyField?: string): Submission {
  const form = useRef<HTMLFormElement>(null);
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState(NO_PROBLEMS);

  useEffect(() => {
    wrong.focus?.focus();
    if (wrong.focus instanceof HTMLInputElement) wrong.focus.select();
  }, [wrong]);

  async function submit(element: HTMLFormElement, was: Element | null) {
    const inputs = inputsOf(element);
    const problems = inputs.flatMap((input) => {
      const problem = problemOf(input);
      return problem === null ? [] : [{ input, problem }];
    });
    const [first] = problems;
    if (first !== undefined) {
      const fields = Object.fromEntries(problems.map(({ input, problem }) => [input.name, problem]));
      return setWrong({ fields, error: null, focus: first.input });
    }
    setBusy(true);
    setWrong(NO_PROBLEMS);
    try {
      await send(Object.fromEntries(inputs.map(({ name, value }) => [name, value])));
    } catch (failure) {
      const error = failure instanceof Error ? failure : new Error(String(failure));
      handleApiError(error);
      const named = error instanceof ApiError ? inputOf(element, fieldOf(error, likelyField)) : null;
      setWrong({
        fields: named ? { [named.name]: error.message } : {},
        error: named ? null : error,
        focus: named ?? inputOf(element, likelyField ?? null) ?? (was instanceof HTMLElement ? was : null),
      });
    } finally {
      setBusy(false);
    }
  }

  return {
    form,
    busy,
    error: wrong.error,
    field: (name) => ({ name, required: true, withAsterisk: false, error: wrong.fields[name] }),
    onSubmit(event) {
      event.preventDefault();
      if (!busy) void submit(event.currentTarget, document.activeElement);
    },
    // Editing a field clears its error only.
    onInput({ target }) {
      if (!(target instanceof HTMLInputElement) || wrong.fields[target.name] === undefined) return;
      const { [target.name]: _corrected, ...fields } = wrong.fields;
      setWrong({ ...wrong, fields, focus: null });
    },
  };
}

/** Error codes that mean that `likelyField` is wrong. */
const CREDENTIAL_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'wrong_password',
  'wrong_code',
  'second_factor_failed',
]);

const fieldOf = ({ code, field }: ApiError, likelyField: string | undefined): string | null =>
  field ?? (CREDENTIAL_CODES.has(code) ? (likelyField ?? null) : null);

const inputsOf = (form: HTMLFormElement): HTMLInputElement[] =>
  [...form.elements].flatMap((part) => (part instanceof HTMLInputElement && part.name !== '' ? [part] : []));
function inputOf(form: HTMLFormElement, name: string | null): HTMLInputElement | null {
  const found = name === null ? null : form.elements.namedItem(name);
  return found instanceof HTMLInputElement && !found.readOnly ? found : null;
}

/** By field name; any other field is a password. */ const MISSING: Values = {
  email: t`Enter an email address.`,
  name: t`Enter a name.`,
  code: t`Enter the code.`,
  value: t`Enter an email address, a domain, an IP address or a CIDR block.`,
  credits: t`Enter a number of credits.`,
  note: t`Enter a note. It is shown in the ledger.`,
  retention_days: t`Enter a number of days.`,
};

/** Checks that need no server. Looser than the browser's own email validation, which rejects valid addresses. */
function problemOf({ name, value, type, required, minLength, readOnly }: HTMLInputElement): string | null {
  if (readOnly) return null;
  if (required && value.trim() === '') return MISSING[name] ?? t`Enter a password.`;
  if (type === 'email' && !/^[^@]+@./.test(value.trim())) return t`Enter an email address, such as ada@example.com.`;
  if (minLength > 0 && value.length < minLength)
    return t`Use at least ${minLength} characters (currently ${value.length}).`;
  return null;
}
