import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';

export const SignInLink = () => <Button component={Link} to="/sign-in" variant="filled">{t`Sign in`}</Button>;
