import { Text } from '@mantine/core';
import { Page } from '../parts/page.tsx';

export function NoAccount() {
  return (
    <Page title="No account">
      <Text maw={640}>
        You are not a member of any account. Ask an account owner or admin for an invitation, or ask the operator of
        this service to add you: mailvet user create --email … --account …
      </Text>
    </Page>
  );
}
