import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';

export const SignInLink = () => (
  <Button component={Link} to="/sign-in" variant="filled">
    Sign in
  </Button>
);
