import { TextInput, type TextInputProps } from '@mantine/core';

/** An address that signs in: what password managers file the password under. */
export const EmailField = (props: TextInputProps) => (
  <TextInput label="Email" type="email" autoComplete="username" maxLength={254} spellCheck={false} {...props} />
);

/** For password managers: whose password the form is about, where the page need not ask. */
export const KnownUser = ({ email }: { email: string }) => (
  <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
);
