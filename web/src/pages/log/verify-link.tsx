import { t } from '@lingui/core/macro';
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useHasRole } from '../../api/session.ts';

/** Where there is nothing to see yet, for those who may change that. */
export function VerifyLink() {
  if (!useHasRole('member')) return null;
  return <Anchor component={Link} to="/verify">{t`Verify an address`}</Anchor>;
}
