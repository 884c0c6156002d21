import { t } from '@lingui/core/macro';
import { TextInput, type TextInputProps } from '@mantine/core';
import { USER_EMAIL_LENGTH } from '../../../src/kernel/facts/limits.ts';

/** The email address of a user; password managers store it as the user name. */
export const EmailField = (props: TextInputProps) => (
  <TextInput
    label={t`Email`}
    type="email"
    autoComplete="username"
    maxLength={USER_EMAIL_LENGTH.max}
    spellCheck={false}
    {...props}
  />
);

/** Tells password managers which user the password belongs to. */
export const HiddenUsername = ({ email }: { email: string }) => (
  <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
);
