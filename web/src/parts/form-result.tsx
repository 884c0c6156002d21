import { Box, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { focusOnMount } from './focus.ts';

/** Replaces a submitted form: focused, so that screen readers announce it. */
export const FormResult = ({ children, action }: { children: ReactNode; action?: ReactNode }) => (
  <Stack align="flex-start">
    <Box ref={focusOnMount} tabIndex={-1} maw="100%" style={{ outline: 'none' }} className="anywhere">
      {children}
    </Box>
    {action}
  </Stack>
);
