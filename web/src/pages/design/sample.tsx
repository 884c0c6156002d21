import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Panel } from '../../parts/panel.tsx';

export const Sample = ({ title, children }: { title: string; children: ReactNode }) => (
  <Panel title={title}>
    <Stack>{children}</Stack>
  </Panel>
);
