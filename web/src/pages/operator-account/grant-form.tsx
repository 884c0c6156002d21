import { Box, SegmentedControl, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { NOTE_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import type { OperatorAccount } from '../../api/schema.ts';
import { Form } from '../../parts/form.tsx';
import { pluralize } from '../../parts/format.ts';
import { notify } from '../../parts/notify.tsx';
import { parseInteger } from '../../parts/parse-integer.ts';
import { useSubmit } from '../../parts/use-submit.ts';
import { grant, OPERATOR_KEY } from '../operator/queries.ts';

const WAYS = [
  { value: 'grant', label: 'Grant' },
  { value: 'take', label: 'Deduct' },
];

/** Grants or deducts credits, with a note for the ledger. */
export function GrantForm({ account: { id, balance } }: { account: OperatorAccount }) {
  const client = useQueryClient();
  const [way, setWay] = useState('grant');
  const takes = way === 'take';
  const submit = useSubmit(async ({ credits = '', note = '' }) => {
    const number = parseInteger(credits, 'credits', 1);
    const after = await grant(id, { credits: takes ? -number : number, note: note.trim() });
    submit.form.current?.reset();
    const done = `${pluralize(number, 'credit')} ${takes ? 'deducted' : 'granted'}`;
    void notify(`${done}. New balance: ${pluralize(after.balance, 'credit')}.`);
    await client.invalidateQueries({ queryKey: OPERATOR_KEY });
  });
  return (
    <Box component="section" aria-labelledby="grant" maw={480}>
      <Title order={2} id="grant" mb="xs">
        Adjust credits
      </Title>
      <Form submit={submit} action={takes ? 'Deduct' : 'Grant'}>
        <SegmentedControl fullWidth aria-label="Adjustment" data={WAYS} value={way} onChange={setWay} />
        <TextInput
          {...submit.field('credits')}
          label="Credits"
          description={takes ? `At most ${pluralize(balance, 'credit')}. The balance cannot go below zero.` : undefined}
          inputMode="numeric"
          maxLength={15}
          autoComplete="off"
        />
        <TextInput
          {...submit.field('note')}
          label="Note"
          description="Shown to the account in its credit ledger."
          maxLength={NOTE_LENGTH.max}
          autoComplete="off"
        />
      </Form>
    </Box>
  );
}
