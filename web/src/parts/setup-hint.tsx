import { t } from '@lingui/core/macro';
import { Code, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSession } from '../api/session.ts';

/** How the first user is made. `children`: for whom it does not apply. */
export function SetupHint({ children }: { children?: ReactNode }) {
  const { setup_command } = useSession();
  return (
    <Stack gap="sm">
      {setup_command !== null && (
        <>
          <Text>{t`The operator of this service runs this command on the host, with the options of the service:`}</Text>
          <Code block className="anywhere" style={{ whiteSpace: 'pre-wrap' }}>
            {setup_command}
          </Code>
          <Text>{t`It prints a link to choose a password, which works once.`}</Text>
        </>
      )}
      {children}
    </Stack>
  );
}
