import { Box } from '@mantine/core';
import type { ReactNode } from 'react';

/** Terms, and what there is to say of each. */
export const Facts = ({ children }: { children: ReactNode }) => (
  <Box component="dl" className="facts">
    {children}
  </Box>
);

export const Fact = ({ term, children }: { term: string; children: ReactNode }) => (
  <div>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </div>
);
