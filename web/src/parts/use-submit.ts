import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { noteRefusal } from '../api/query-client.ts';

/** What a form holds when it is sent, by the names of its fields. */
export type Values = Readonly<Record<string, string>>;

export interface Submission {
  readonly form: RefObject<HTMLFormElement | null>;
  readonly busy: boolean;
  /** What no field can show. */
  readonly error: Error | null;
  /** The name of a field, whether it must be filled in, and what is wrong with it. */
  readonly field: (name: string) => { name: string; required: true; withAsterisk: false; error: string | undefined };
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  readonly onInput: (event: FormEvent<HTMLFormElement>) => void;
}

interface Wrong {
  readonly fields: Values;
  readonly error: Error | null;
  /** Where the person goes on. */
  readonly focus: HTMLElement | null;
}

const RIGHT: Wrong = { fields: {}, error: null, focus: null };

/**
 * A form whose fields only the document holds: passwords and codes are read when it is sent, and stay nowhere. `send` is
 * awaited. What fails stands at its field, and the focus goes there; where no field is named, it goes to `suspect`, the
 * one that is wrong most often, or stays where it was.
 */
export function useSubmit(send: (values: Values) => Promise<unknown>, suspect?: string): Submission {
  const form = useRef<HTMLFormElement>(null);
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState(RIGHT);

  useEffect(() => {
    wrong.focus?.focus();
    if (wrong.focus instanceof HTMLInputElement) wrong.focus.select();
  }, [wrong]);

  async function submit(element: HTMLFormElement, was: Element | null) {
    const inputs = [...element.elements].filter((part) => part instanceof HTMLInputElement && part.name !== '');
    const problems = (inputs as HTMLInputElement[]).flatMap((input) => {
      const problem = problemOf(input);
      return problem === null ? [] : [{ input, problem }];
    });
    if (problems.length > 0) {
      const fields = Object.fromEntries(problems.map(({ input, problem }) => [input.name, problem]));
      return setWrong({ fields, error: null, focus: problems[0]!.input });
    }
    setBusy(true);
    setWrong(RIGHT);
    try {
      await send(Object.fromEntries((inputs as HTMLInputElement[]).map(({ name, value }) => [name, value])));
    } catch (failure) {
      const error = failure instanceof Error ? failure : new Error(String(failure));
      noteRefusal(error);
      const named = error instanceof ApiError ? inputOf(element, fieldOf(error, suspect)) : null;
      setWrong({
        fields: named ? { [named.name]: error.message } : {},
        error: named ? null : error,
        focus: named ?? inputOf(element, suspect ?? null) ?? (was instanceof HTMLElement ? was : null),
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
    // What is being corrected is not wrong any more; what the others have wrong stays.
    onInput({ target }) {
      const { name } = target as HTMLInputElement;
      if (wrong.fields[name] === undefined) return;
      const { [name]: _corrected, ...fields } = wrong.fields;
      setWrong({ ...wrong, fields, focus: null });
    },
  };
}

/** Codes that say what was typed is wrong, of forms where it was typed into one field. */
const OF_SUSPECT: readonly string[] = ['wrong_password', 'wrong_code', 'second_factor_failed'];

const fieldOf = ({ code, field }: ApiError, suspect: string | undefined): string | null =>
  field ?? (OF_SUSPECT.includes(code) ? (suspect ?? null) : null);

function inputOf(form: HTMLFormElement, name: string | null): HTMLInputElement | null {
  const found = name === null ? null : form.elements.namedItem(name);
  return found instanceof HTMLInputElement && !found.readOnly ? found : null;
}

const MISSING: Values = {
  email: 'Enter an email address.',
  name: 'Enter a name.',
  code: 'Enter the code.',
  value: 'Enter an address, a domain, an IP or a CIDR.',
  credits: 'Enter a number of credits.',
  note: 'Enter a note: the ledger shows it.',
  retention_days: 'Enter a number of days.',
};

/** What can be said without asking the server. The browser's own judgement of addresses is narrower than ours. */
function problemOf({ name, value, type, required, minLength, readOnly }: HTMLInputElement): string | null {
  if (readOnly) return null;
  if (required && value.trim() === '') return MISSING[name] ?? 'Enter the password.';
  if (type === 'email' && !/^[^@]+@./.test(value.trim())) return 'Enter an email address, such as ada@example.com.';
  if (minLength > 0 && value.length < minLength)
    return `Use at least ${minLength} characters; there are ${value.length}.`;
  return null;
}
