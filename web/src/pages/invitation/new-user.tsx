import { Stack, Text, TextInput } from '@mantine/core';
import { PERSON_NAME_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { EmailField } from '../../parts/email-field.tsx';
import { focusOnMount } from '../../parts/focus.ts';
import { Form } from '../../parts/form.tsx';
import { NewPasswordField } from '../../parts/password-field.tsx';
import { useSubmit } from '../../parts/use-submit.ts';
import { type AcceptProps, useAcceptInvitation } from './use-accept-invitation.ts';

/** There is no user with the invited address yet. */
export const AcceptAsNewUser = (joining: AcceptProps) => <PersonForm joining={joining} passwordLabel="Password" />;

/**
 * The signed-in user has the invited address, but has never proven it: the link does, and nothing of before is kept.
 */
export const AcceptUnconfirmed = (joining: AcceptProps) => (
  <Stack>
    <Text className="anywhere">
      You are signed in as {joining.email}, but this address has never been confirmed. The link confirms it: choose a
      new password to join. This ends all your sessions and removes all your passkeys and your authenticator app.
    </Text>
    <PersonForm joining={joining} passwordLabel="New password" />
  </Stack>
);

function PersonForm({ joining, passwordLabel }: { joining: AcceptProps; passwordLabel: string }) {
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
      <NewPasswordField label={passwordLabel} {...submit.field('password')} />
    </Form>
  );
}
