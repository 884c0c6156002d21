import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';

/** The way on where everything else is done. */
export const SignInLink = () => (
  <Button component={Link} to="/sign-in" variant="filled">
    Sign in
  </Button>
);
