import { t } from '@lingui/core/macro';
import type { ReactNode } from 'react';
import { useHasRole } from '../../api/session.ts';
import { EmptyState } from '../../parts/empty-state.tsx';

/** The content of a page on which viewers can do nothing. */
export const MembersOnly = ({ children }: { children: ReactNode }) =>
  useHasRole('member') ? (
    children
  ) : (
    <EmptyState
      title={t`Not for viewers`}
    >{t`Your role is viewer: you see everything, and change and charge nothing. Ask an admin or owner to change it.`}</EmptyState>
  );
