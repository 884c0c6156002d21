import { t } from '@lingui/core/macro';
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { ErrorAlert } from './error-alert.tsx';
import { PasswordField } from './password-field.tsx';
import { useAsyncAction } from './use-async-action.ts';

/**
 * Confirms an action that destroys or costs something, described by `children`. `typed`: text to type before
 * confirming. `password`: asks for the password and passes it to `onConfirm` (otherwise an empty string). If
 * `onConfirm` rejects, the error is shown and the dialog stays open.
 */
export function ConfirmDialog(props: {
  title: string;
  action: string;
  /** What the button says that changes nothing; `Cancel` by default. */
  keep?: string;
  /** False: the action destroys nothing, such as one that costs credits. */
  isLoss?: boolean;
  typed?: string;
  password?: boolean;
  /** Something in `children` is to be done first. */
  blocked?: boolean;
  opened: boolean;
  onClose: () => void;
  onConfirm: (password: string) => Promise<unknown>;
  children: ReactNode;
}) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title}>
      <ConfirmForm {...props} />
    </Modal>
  );
}

/** Mounted with the dialog, so that its state resets. */
function ConfirmForm(props: Parameters<typeof ConfirmDialog>[0]) {
  const {
    action,
    keep = t`Cancel`,
    isLoss = true,
    typed,
    password: asksPassword = false,
    blocked = false,
    onClose,
    onConfirm,
    children,
  } = props;
  const [text, setText] = useState('');
  const [password, setPassword] = useState('');
  const passwordField = useRef<HTMLInputElement>(null);
  const { run, busy, error } = useAsyncAction(async () => {
    try {
      await onConfirm(password);
    } catch (failure) {
      if (isPasswordError(failure)) passwordField.current?.select();
      throw failure;
    }
    onClose();
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {typed !== undefined && (
          <TextInput
            label={t`Type “${typed}” to confirm`}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
            data-confirms
          />
        )}
        {asksPassword && (
          <PasswordField
            ref={passwordField}
            label={t`Your password`}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={error && isPasswordError(error) ? error.message : undefined}
          />
        )}
        {error && !(asksPassword && isPasswordError(error)) && <ErrorAlert error={error} />}
        <Group justify="flex-end">
          <Button onClick={onClose}>{keep}</Button>
          <Button
            type="submit"
            {...(isLoss ? { color: 'red' } : {})}
            variant="filled"
            loading={busy}
            disabled={blocked || (typed !== undefined && text !== typed) || (asksPassword && password === '')}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const isPasswordError = (error: unknown): boolean => error instanceof ApiError && error.field === 'password';
