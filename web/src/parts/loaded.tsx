import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { Loading } from './loading.tsx';

/** What a query brought, while it loads a sign of it, and where it failed why, with the way to try again. */
export function Loaded<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  const { data, error, refetch } = query;
  const failure = error && <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return failure ?? <Loading />;
  return (
    <>
      {failure}
      {children(data)}
    </>
  );
}
