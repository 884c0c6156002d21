import { t } from '@lingui/core/macro';
import { Button, Group, Stack } from '@mantine/core';
import type { FormEventHandler, ReactNode, RefObject } from 'react';
import { ErrorAlert } from './error-alert.tsx';

/** What `useSubmit` and `useFields` return. */
interface SubmittedForm {
  readonly form: RefObject<HTMLFormElement | null>;
  readonly busy: boolean;
  /** An error that no field shows. */
  readonly error: Error | null;
  readonly onSubmit: FormEventHandler<HTMLFormElement>;
  readonly onInput?: FormEventHandler<HTMLFormElement>;
}

/** Fields, an error that none of them shows, and buttons. */
const Fields = ({ submit, children, buttons }: { submit: SubmittedForm; children: ReactNode; buttons: ReactNode }) => (
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
      {buttons}
    </Stack>
  </form>
);

/** The form of a page. `main`: the primary action of the screen. `beside`: next to the button. */
export function Form(props: {
  submit: SubmittedForm;
  action: string;
  main?: boolean;
  beside?: ReactNode;
  children?: ReactNode;
}) {
  const { submit, action, main = false, beside, children } = props;
  return (
    <Fields
      submit={submit}
      buttons={
        <Group>
          <Button type="submit" loading={submit.busy} variant={main ? 'filled' : 'default'}>
            {action}
          </Button>
          {beside}
        </Group>
      }
    >
      {children}
    </Fields>
  );
}

/**
 * The form of a dialog, whose buttons are placed as in every dialog: cancel left, act right. To be mounted with the
 * dialog, so that its state resets. `isLoss`: the action destroys something.
 */
export function DialogForm(props: {
  submit: SubmittedForm;
  action: string;
  isLoss?: boolean;
  disabled?: boolean;
  onCancel: () => void;
  children?: ReactNode;
}) {
  const { submit, action, isLoss = false, disabled = false, onCancel, children } = props;
  return (
    <Fields
      submit={submit}
      buttons={
        <Group justify="flex-end">
          <Button onClick={onCancel}>{t`Cancel`}</Button>
          <Button
            type="submit"
            variant="filled"
            loading={submit.busy}
            disabled={disabled}
            {...(isLoss && { color: 'red' })}
          >
            {action}
          </Button>
        </Group>
      }
    >
      {children}
    </Fields>
  );
}
