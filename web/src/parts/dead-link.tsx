import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client.ts';
import { Outcome } from './outcome.tsx';
import { Page } from './page.tsx';

/** Whether the service says that a link is used up or too old. */
export const isDeadLink = (error: unknown): boolean => error instanceof ApiError && error.status === 410;

/** For pages that are opened by a link: it is used up, or was left out. `children` say where a new one comes from. */
export function DeadLink({ used, children, action }: { used: boolean; children: ReactNode; action?: ReactNode }) {
  return (
    <Page title={used ? 'This link does not work any more' : 'A link is missing'}>
      <Outcome action={action}>
        {used && <Text mb="sm">It was used, or it is too old.</Text>}
        <Text component="div">{children}</Text>
      </Outcome>
    </Page>
  );
}
