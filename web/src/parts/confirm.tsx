import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Failure } from './failure.tsx';

/**
 * Asks before something is lost. `children` say what; with `typed`, the person types that text first. `onConfirm` is
 * awaited; its error is shown and the dialog stays.
 */
export function Confirm(props: {
  title: string;
  action: string;
  typed?: string;
  opened: boolean;
  onClose: () => void;
  onConfirm: () => Promise<unknown>;
  children: ReactNode;
}) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title}>
      <Question {...props} />
    </Modal>
  );
}

/** Mounted with the dialog, so that each question begins anew. */
function Question({ action, typed, onClose, onConfirm, children }: Parameters<typeof Confirm>[0]) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  async function confirm() {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    } finally {
      setBusy(false);
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void confirm();
      }}
    >
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {typed !== undefined && (
          <TextInput
            label={`Type “${typed}” to confirm`}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
        {error && <Failure error={error} />}
        <Group justify="flex-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            color="red"
            variant="filled"
            loading={busy}
            disabled={typed !== undefined && text !== typed}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
