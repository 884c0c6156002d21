import { Anchor, Center, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';

export function NotFound() {
  return (
    <Center component="main" py="xl">
      <Stack align="center">
        <Title order={1}>Nothing is here</Title>
        <Text>The address may be mistyped, or what it named is gone.</Text>
        <Anchor component={Link} to="/">
          To the overview
        </Anchor>
      </Stack>
    </Center>
  );
}
