import { Button, Group, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { LOW_BALANCE } from '../../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../../api/client.ts';
import { useAccount } from '../../api/session.ts';
import { focusOnMount } from '../../parts/focus.ts';
import { pluralize } from '../../parts/format.ts';
import { notify } from '../../parts/notify.tsx';
import { parseInteger } from '../../parts/parse-integer.ts';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { useFocusInvalid } from '../../parts/use-focus-invalid.ts';

/** The balance below which users are alerted. Admins can edit it in place. */
export function LowBalanceThreshold({ threshold, isAdmin }: { threshold: number | null; isAdmin: boolean }) {
  const [editing, setEditing] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const close = () => {
    setEditing(false);
    requestAnimationFrame(() => opener.current?.focus());
  };
  if (editing) return <ThresholdForm threshold={threshold} onClose={close} />;
  return (
    <Group gap="xs" justify="space-between">
      <Text size="sm">
        {threshold === null ? 'No low-balance alert.' : `Low-balance alert below ${pluralize(threshold, 'credit')}.`}
      </Text>
      {isAdmin && (
        <Button size="xs" ref={opener} onClick={() => setEditing(true)}>
          {threshold === null ? 'Set low-balance threshold' : 'Change threshold'}
        </Button>
      )}
    </Group>
  );
}

function ThresholdForm({ threshold, onClose }: { threshold: number | null; onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [text, setText] = useState(threshold === null ? '' : String(threshold));
  async function save(credits: number | null) {
    const path = { params: { path: { account: id } }, body: { credits } };
    await unwrap(api.PUT('/dashboard/accounts/{account}/low-balance', path));
    await client.invalidateQueries({ queryKey: ['account', id] });
    void notify(
      credits === null
        ? 'Low-balance threshold removed.'
        : `Low-balance threshold set to ${pluralize(credits, 'credit')}.`,
    );
    onClose();
  }
  const set = useAsyncAction(async () => save(parseInteger(text, 'credits', LOW_BALANCE.min)));
  const clear = useAsyncAction(() => save(null));
  const error = set.error ?? clear.error;
  const { form, onAttempt } = useFocusInvalid(error);
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onAttempt();
        set.run();
      }}
    >
      <TextInput
        label="Alert when the balance falls below"
        description="In credits. Shows a banner and sends one email to owners and admins."
        inputMode="numeric"
        autoComplete="off"
        ref={focusOnMount}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={error?.message}
      />
      <Group gap="xs" mt="xs">
        <Button size="xs" onClick={onClose}>
          Cancel
        </Button>
        {threshold !== null && (
          <Button size="xs" onClick={clear.run} loading={clear.busy}>
            Remove threshold
          </Button>
        )}
        <Button type="submit" size="xs" loading={set.busy}>
          Save
        </Button>
      </Group>
    </form>
  );
}
