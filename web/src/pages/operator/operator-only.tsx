import type { ReactNode } from 'react';
import { useSession } from '../../api/session.ts';
import { NotFound } from '../../parts/not-found.tsx';

/** To who is no operator these pages do not exist; the server says the same. */
export const OperatorOnly = ({ children }: { children: ReactNode }) =>
  useSession().user?.operator ? children : <NotFound inside />;
