import type { ReactNode } from 'react';
import { useHasRole } from '../../api/session.ts';
import { EmptyState } from '../../parts/empty-state.tsx';

/** The content of a page on which viewers can do nothing. */
export const MembersOnly = ({ children }: { children: ReactNode }) =>
  useHasRole('member') ? (
    children
  ) : (
    <EmptyState title="Not for viewers">
      Your role is viewer: you see everything, and change and charge nothing. Ask an admin or owner to change it.
    </EmptyState>
  );
