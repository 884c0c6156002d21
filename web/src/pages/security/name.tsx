import { Box, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { PERSON_NAME_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../../api/client.ts';
import { type SignedInUser, sessionQuery } from '../../api/session.ts';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { Section } from './section.tsx';

export function NameSection({ user }: { user: SignedInUser }) {
  const client = useQueryClient();
  const submit = useSubmit(async ({ name = '' }) => {
    await unwrap(api.PATCH('/dashboard/profile', { body: { name: name.trim() } }));
    await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    await notify('Name saved.');
  });
  return (
    <Section title="Name" about="Shown to other members of your accounts, together with your email address.">
      <Box maw={360}>
        <Form submit={submit} action="Save name">
          <TextInput
            label="Your name"
            autoComplete="name"
            maxLength={PERSON_NAME_LENGTH.max}
            defaultValue={user.name}
            {...submit.field('name')}
          />
        </Form>
      </Box>
    </Section>
  );
}
