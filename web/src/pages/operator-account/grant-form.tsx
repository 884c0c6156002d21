import { Box, SegmentedControl, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { OperatorAccount } from '../../api/schema.ts';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { wholeNumber } from '../../parts/whole-number.ts';
import { counted } from '../../parts/words.ts';
import { grant, OPERATOR_KEY } from '../operator/queries.ts';

const WAYS = [
  { value: 'grant', label: 'Grant' },
  { value: 'take', label: 'Take back' },
];

/** Grants credits, or takes them back, with a note that the ledger shows. */
export function GrantForm({ account: { id, balance } }: { account: OperatorAccount }) {
  const client = useQueryClient();
  const [way, setWay] = useState('grant');
  const takes = way === 'take';
  const submit = useSubmit(async ({ credits = '', note = '' }) => {
    const number = wholeNumber(credits, 'credits', 1);
    const after = await grant(id, { credits: takes ? -number : number, note: note.trim() });
    submit.form.current?.reset();
    const done = `${counted(number, 'credit')} ${takes ? 'taken back' : 'granted'}`;
    void notify(`${done}. The balance is ${counted(after.balance, 'credit')}.`);
    await client.invalidateQueries({ queryKey: OPERATOR_KEY });
  });
  return (
    <Box component="section" aria-labelledby="grant" maw={480}>
      <Title order={2} id="grant" mb="xs">
        Grant or take back
      </Title>
      <Form submit={submit} action={takes ? 'Take back' : 'Grant'}>
        <SegmentedControl aria-label="Which of the two" data={WAYS} value={way} onChange={setWay} />
        <TextInput
          {...submit.field('credits')}
          label="Credits"
          description={takes ? `At most ${counted(balance, 'credit')}: the balance never goes below zero.` : undefined}
          inputMode="numeric"
          maxLength={15}
          autoComplete="off"
        />
        <TextInput
          {...submit.field('note')}
          label="Note"
          description="The account sees it in its ledger."
          maxLength={500}
          autoComplete="off"
        />
      </Form>
    </Box>
  );
}
