import { Box, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { takeFocus } from './focus.ts';

/** What has come of a form, in its place: read out first, then the way on. */
export const Outcome = ({ children, action }: { children: ReactNode; action?: ReactNode }) => (
  <Stack align="flex-start">
    <Box ref={takeFocus} tabIndex={-1} maw="100%" style={{ outline: 'none' }} className="anywhere">
      {children}
    </Box>
    {action}
  </Stack>
);
