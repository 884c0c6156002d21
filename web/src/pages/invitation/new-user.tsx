import { TextInput } from '@mantine/core';
import { PERSON_NAME_LENGTH } from '../../api/limits.ts';
import { EmailField } from '../../parts/email-field.tsx';
import { focusOnMount } from '../../parts/focus.ts';
import { Form } from '../../parts/form.tsx';
import { NewPasswordField } from '../../parts/password-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { type AcceptProps, useAcceptInvitation } from './use-accept-invitation.ts';

/** There is no user with the invited address yet. */
export function AcceptAsNewUser(joining: AcceptProps) {
  const join = useAcceptInvitation(joining);
  const submit = useSubmit(({ name = '', password = '' }) => join({ name: name.trim(), password }));
  return (
    <Form submit={submit} action="Join" main>
      <EmailField
        name="email"
        defaultValue={joining.email}
        readOnly
        description="The invitation was sent to this address."
      />
      <TextInput
        label="Your name"
        autoComplete="name"
        maxLength={PERSON_NAME_LENGTH.max}
        {...submit.field('name')}
        ref={focusOnMount}
      />
      <NewPasswordField label="Password" {...submit.field('password')} />
    </Form>
  );
}
