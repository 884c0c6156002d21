import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorAlert } from './error-alert.tsx';
import { Loading } from './loading.tsx';

/** Renders the data of a query, a loading indicator, or the error with a retry button. */
export function QueryResult<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  const { data, error, refetch } = query;
  const failure = error && <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return failure ?? <Loading />;
  return (
    <>
      {failure}
      {children(data)}
    </>
  );
}
