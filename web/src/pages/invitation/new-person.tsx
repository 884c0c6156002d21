import { TextInput } from '@mantine/core';
import { EmailField } from '../../parts/email-field.tsx';
import { takeFocus } from '../../parts/focus.ts';
import { Form } from '../../parts/form.tsx';
import { NewPasswordField } from '../../parts/password-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { type Joining, useJoin } from './use-join.ts';

/** The address is new here: it gets a name and a password. */
export function JoinAnew(joining: Joining) {
  const join = useJoin(joining);
  const submit = useSubmit(({ name = '', password = '' }) => join({ name: name.trim(), password }));
  return (
    <Form submit={submit} action="Join" main>
      <EmailField
        name="email"
        defaultValue={joining.email}
        readOnly
        description="The invitation is for this address."
      />
      <TextInput label="Your name" autoComplete="name" maxLength={100} {...submit.field('name')} ref={takeFocus} />
      <NewPasswordField label="Password" {...submit.field('password')} />
    </Form>
  );
}
