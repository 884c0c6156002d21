import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Box, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { PagePath } from '../../../src/kernel/facts/pages.ts';
import { inSentence } from './format.ts';
import { Wordmark } from './mark.tsx';
import { useSetPageTitle } from './page-title.ts';
import { useHasNoFirstView } from './use-end-first-view.ts';

const OVERVIEW = { to: '/', label: t`Go to the overview` } as const;

/**
 * The 404 page. `inside`: within the shell, which has the landmarks. `what`: of which kind is what does not exist;
 * `back`: where those that exist are.
 */
export function NotFound(props: {
  inside?: boolean;
  what?: string;
  back?: { readonly to: PagePath; readonly label: string };
}) {
  const { inside = false, what = t`Page`, back = OVERVIEW } = props;
  const title = t`${what} not found`;
  useSetPageTitle(title);
  useHasNoFirstView();
  return (
    <Box component={inside ? 'div' : 'main'} maw={640} p={inside ? 0 : 24}>
      {!inside && <Wordmark />}
      <Title order={1} mt={inside ? 0 : 48} mb={4}>
        {title}
      </Title>
      <Text mb="sm">
        <Trans>
          Check the URL. The {inSentence(what)} may have been{' '}
          {what === 'Page' ? t`moved or deleted` : t`deleted, or belong to another account`}.
        </Trans>
      </Text>
      <Anchor component={Link} to={back.to}>
        {back.label}
      </Anchor>
    </Box>
  );
}
