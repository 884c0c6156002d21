import { t } from '@lingui/core/macro';
import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorAlert } from './error-alert.tsx';
import type { Submission } from './use-submit.ts';

/**
 * A form with its fields, error and submit button. `main`: the primary action of the screen. `beside`: next to the
 * button. `onCancel`: of a dialog, whose buttons are placed as in every dialog: cancel left, act right.
 */
export function Form(props: {
  submit: Submission;
  action: string;
  main?: boolean;
  beside?: ReactNode;
  disabled?: boolean;
  onCancel?: () => void;
  children?: ReactNode;
}) {
  const { submit, action, main = false, beside, disabled = false, onCancel, children } = props;
  return (
    // If it is ever submitted without JavaScript, the values must not end up in the URL.
    <form
      ref={submit.form}
      method="post"
      noValidate
      aria-busy={submit.busy}
      onSubmit={submit.onSubmit}
      onInput={submit.onInput}
    >
      <Stack>
        {children}
        {submit.error && <ErrorAlert error={submit.error} />}
        <Group justify={onCancel ? 'flex-end' : 'flex-start'}>
          {onCancel && <Button onClick={onCancel}>{t`Cancel`}</Button>}
          <Button type="submit" loading={submit.busy} disabled={disabled} variant={main ? 'filled' : 'default'}>
            {action}
          </Button>
          {beside}
        </Group>
      </Stack>
    </form>
  );
}
