import { TextInput, type TextInputProps } from '@mantine/core';

/** Six digits of an authenticator app; with `recovery`, one of the codes that were kept for the day it is lost. */
export const CodeField = ({ recovery = false, ...props }: TextInputProps & { recovery?: boolean }) => (
  <TextInput
    label={recovery ? 'Recovery code' : 'Code of the authenticator app'}
    autoComplete={recovery ? 'off' : 'one-time-code'}
    inputMode={recovery ? 'text' : 'numeric'}
    maxLength={20}
    autoCapitalize="none"
    autoCorrect="off"
    spellCheck={false}
    {...props}
  />
);

/** As the server takes it: apps show `123 456`, and both are copied with spaces around them. */
export const codeOf = (typed: string | undefined): string => (typed ?? '').replaceAll(/\s/g, '');
