import { t } from '@lingui/core/macro';
import { TextInput, type TextInputProps } from '@mantine/core';
import type { Ref } from 'react';
import { PERSON_NAME_LENGTH, USER_EMAIL_LENGTH } from '../../../src/kernel/facts/limits.ts';

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

/** The name of a user. */
export const PersonNameField = (props: TextInputProps & { ref?: Ref<HTMLInputElement> }) => (
  <TextInput label={t`Your name`} autoComplete="name" maxLength={PERSON_NAME_LENGTH.max} {...props} />
);

/** Tells password managers which user the password belongs to. */
export const HiddenUsername = ({ email }: { email: string }) => (
  <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
);
