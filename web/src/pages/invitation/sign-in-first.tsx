import { Button, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';

/** There is a user with the invited address, who signs in first. The link token stays in memory meanwhile. */
export const SignInFirst = ({ email }: { email: string }) => (
  <Stack align="flex-start">
    <Text className="anywhere">Sign in as {email} to join. You will return to this page.</Text>
    <Button
      variant="filled"
      renderRoot={(props) => <Link {...props} to="/sign-in" search={{ next: '/invitation' }} state={{ email }} />}
    >
      Sign in
    </Button>
  </Stack>
);
