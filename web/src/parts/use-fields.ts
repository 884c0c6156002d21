import { type FormEvent, useState } from 'react';
import { fieldError, formError } from './field-error.ts';
import { useAsyncAction } from './use-async-action.ts';
import { useFocusInvalid } from './use-focus-invalid.ts';

/**
 * A form with controlled fields: a field shows its error until it is edited. The passwords and codes of users are read
 * from the DOM instead (`useSubmit`).
 */
export function useFields<Field extends string>(props: {
  /** By the names that the server gives the fields in its errors. */
  values: Readonly<Record<Field, unknown>>;
  /** What fields lack that nothing is sent without. */
  missing?: Readonly<Partial<Record<Field, string | false>>>;
  send: () => Promise<unknown>;
}) {
  const { values, missing, send } = props;
  const [sent, setSent] = useState<typeof values | null>(null);
  const { run, busy, error } = useAsyncAction(send);
  const { form, onAttempt } = useFocusInvalid(error);
  return {
    form,
    busy,
    /** An error that no field shows. */
    error: formError(error, Object.keys(values)),
    errorOf: (field: Field): string | undefined =>
      sent === null
        ? undefined
        : missing?.[field] || (values[field] === sent[field] ? fieldError(error, field) : undefined),
    onSubmit(event: FormEvent<HTMLFormElement>) {
      event.preventDefault();
      onAttempt();
      setSent(values);
      if (!Object.values(missing ?? {}).some(Boolean)) run();
    },
  };
}
