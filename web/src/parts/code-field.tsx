import { t } from '@lingui/core/macro';
import { TextInput, type TextInputProps } from '@mantine/core';
import { CODE_LENGTH } from '../../../src/kernel/facts/limits.ts';

/** The six-digit code of an authenticator app, or a recovery code. */
export const CodeField = ({ recovery = false, ...props }: TextInputProps & { recovery?: boolean }) => (
  <TextInput
    label={recovery ? t`Recovery code` : t`Authenticator code`}
    autoComplete={recovery ? 'off' : 'one-time-code'}
    inputMode={recovery ? 'text' : 'numeric'}
    maxLength={CODE_LENGTH.max}
    autoCapitalize="none"
    autoCorrect="off"
    spellCheck={false}
    {...props}
  />
);

/** Without white space: apps show `123 456`. */
export const normalizeCode = (typed: string | undefined): string => (typed ?? '').replaceAll(/\s/g, '');
