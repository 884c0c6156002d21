import { t } from '@lingui/core/macro';
import { Button, Group, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ErrorAlert } from './error-alert.tsx';
import { fieldError, formError } from './field-error.ts';
import { useAsyncAction } from './use-async-action.ts';
import { useFocusInvalid } from './use-focus-invalid.ts';

/**
 * A form in a dialog, with controlled fields: a field shows its error until it is edited, other errors are above the
 * buttons. To be mounted with the dialog, so that its state resets.
 */
export function DialogForm<Field extends string>(props: {
  /** By the names that the server gives the fields in its errors. */
  values: Readonly<Record<Field, unknown>>;
  /** What fields lack that nothing is sent without. */
  missing?: Readonly<Partial<Record<Field, string | false>>>;
  action: string;
  /** True: the action destroys something. */
  isLoss?: boolean;
  onSave: () => Promise<unknown>;
  onCancel: () => void;
  children: (errorOf: (field: Field) => string | undefined) => ReactNode;
}) {
  const { values, missing, action, isLoss = false, onSave, onCancel, children } = props;
  const [sent, setSent] = useState<typeof values | null>(null);
  const { run, busy, error } = useAsyncAction(onSave);
  const { form, onAttempt } = useFocusInvalid(error);
  const other = formError(error, Object.keys(values));
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onAttempt();
        setSent(values);
        if (!Object.values(missing ?? {}).some(Boolean)) run();
      }}
    >
      <Stack>
        {children((field) =>
          sent === null
            ? undefined
            : missing?.[field] || (values[field] === sent[field] ? fieldError(error, field) : undefined),
        )}
        {other && <ErrorAlert error={other} />}
        <Group justify="flex-end">
          <Button onClick={onCancel}>{t`Cancel`}</Button>
          <Button type="submit" variant="filled" loading={busy} {...(isLoss && { color: 'red' })}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
