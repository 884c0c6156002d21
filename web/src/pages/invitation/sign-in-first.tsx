import { Button, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';

/** The address has a sign-in here: its owner shows up first. The link stays in memory meanwhile. */
export const SignInFirst = ({ email }: { email: string }) => (
  <Stack align="flex-start">
    <Text className="anywhere">Sign in as {email} to join. You come back here.</Text>
    <Button
      variant="filled"
      renderRoot={(props) => <Link {...props} to="/sign-in" search={{ next: '/invitation' }} state={{ email }} />}
    >
      Sign in
    </Button>
  </Stack>
);
