import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { OpenedLink } from './link-token.ts';
import { Outcome } from './outcome.tsx';
import { Page } from './page.tsx';

/** For pages that are opened by a link that is used up, or was left out. `children` say where a new one comes from. */
export function DeadLink({ link, children }: { link: OpenedLink; children: ReactNode }) {
  return (
    <Page title={link.refusal === null ? 'A link is missing' : 'This link does not work any more'}>
      <Outcome>
        {link.refusal !== null && <Text mb="sm">{link.refusal}</Text>}
        <Text component="div">{children}</Text>
      </Outcome>
    </Page>
  );
}
