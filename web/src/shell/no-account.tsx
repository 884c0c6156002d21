import { Text } from '@mantine/core';
import { Page } from '../parts/page.tsx';

export function NoAccount() {
  return (
    <Page title="You are in no account">
      <Text maw={640}>
        Somebody who owns one can invite you, or who runs this service can add you: mailvet user create --email …
        --account …
      </Text>
    </Page>
  );
}
