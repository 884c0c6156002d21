import { Box } from '@mantine/core';
import type { ReactNode } from 'react';

/** A `dl` of terms and values. */
export const DescriptionList = ({ children }: { children: ReactNode }) => (
  <Box component="dl" className="descriptions">
    {children}
  </Box>
);

export const DescriptionItem = ({ term, children }: { term: string; children: ReactNode }) => (
  <div>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </div>
);
