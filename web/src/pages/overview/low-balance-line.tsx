import { Button, Group, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import { useAccount } from '../../api/session.ts';
import { takeFocus } from '../../parts/focus.ts';
import { notify } from '../../parts/notify.tsx';
import { useTry } from '../../parts/use-try.ts';
import { wholeNumber } from '../../parts/whole-number.ts';
import { counted } from '../../parts/words.ts';

/** The balance below which a banner and a mail say so; admins set and clear it in its place. */
export function LowBalanceLine({ line, mayAdmin }: { line: number | null; mayAdmin: boolean }) {
  const [editing, setEditing] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const close = () => {
    setEditing(false);
    requestAnimationFrame(() => opener.current?.focus());
  };
  if (editing) return <Editor line={line} onClose={close} />;
  return (
    <Group gap="xs" justify="space-between">
      <Text size="sm">
        {line === null ? 'No line for a low balance.' : `A banner and a mail say so below ${counted(line, 'credit')}.`}
      </Text>
      {mayAdmin && (
        <Button size="xs" ref={opener} onClick={() => setEditing(true)}>
          {line === null ? 'Set a low-balance line' : 'Change the line'}
        </Button>
      )}
    </Group>
  );
}

function Editor({ line, onClose }: { line: number | null; onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [text, setText] = useState(line === null ? '' : String(line));
  async function save(credits: number | null) {
    const path = { params: { path: { account: id } }, body: { credits } };
    await unwrap(api.PUT('/dashboard/accounts/{account}/low-balance', path));
    await client.invalidateQueries({ queryKey: ['account', id] });
    void notify(credits === null ? 'There is no line any more.' : `The line is at ${counted(credits, 'credit')}.`);
    onClose();
  }
  const set = useTry(async () => save(wholeNumber(text, 'credits', 1)));
  const clear = useTry(() => save(null));
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        set.run();
      }}
    >
      <TextInput
        label="Say so when the balance is below"
        description="Credits. A banner shows, and owners and admins get one mail."
        inputMode="numeric"
        autoComplete="off"
        ref={takeFocus}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={(set.error ?? clear.error)?.message}
      />
      <Group gap="xs" mt="xs">
        <Button type="submit" size="xs" loading={set.busy}>
          Save
        </Button>
        {line !== null && (
          <Button size="xs" onClick={clear.run} loading={clear.busy}>
            Clear the line
          </Button>
        )}
        <Button size="xs" onClick={onClose}>
          Cancel
        </Button>
      </Group>
    </form>
  );
}
