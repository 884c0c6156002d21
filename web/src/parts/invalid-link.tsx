import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { FormResult } from './form-result.tsx';
import type { OpenedLink } from './link-token.ts';
import { Page } from './page.tsx';

/** Shown instead of a page whose link is used, expired or missing. `children` say how to get a new one. */
export function InvalidLink({ link, children }: { link: OpenedLink; children: ReactNode }) {
  return (
    <Page title={link.rejection === null ? t`Link required` : t`This link is no longer valid`}>
      <FormResult>
        {link.rejection !== null && <Text mb="sm">{link.rejection}</Text>}
        <Text component="div">{children}</Text>
      </FormResult>
    </Page>
  );
}
