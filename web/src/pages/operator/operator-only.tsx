import type { ReactNode } from 'react';
import { useSession } from '../../api/session.ts';
import { NotFound } from '../../parts/not-found.tsx';

/** For other users these pages do not exist; the server also replies 404. */
export const OperatorOnly = ({ children }: { children: ReactNode }) =>
  useSession().user?.operator ? children : <NotFound inside />;
