import { Code, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Where the setup link comes from. `children`: for whom it does not apply. */
export const SetupHint = ({ children }: { children?: ReactNode }) => (
  <Stack gap="sm">
    <Text>The operator of this service gets a new setup link by starting it again:</Text>
    <Code block>npm run up</Code>
    {children}
  </Stack>
);
