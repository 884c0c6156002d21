import { t } from '@lingui/core/macro';
import { Button, Center, Text } from '@mantine/core';
import { type QueryKey, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useRef } from 'react';
import { ErrorAlert } from './error-alert.tsx';
import { Loading } from './loading.tsx';

/** `next`: an id, or an opaque text. */
interface Keyset {
  readonly next: number | string | null;
}

/** Keyset pagination, newest first: `next` of a page is `before` of the following one. */
export function useKeysetQuery<P extends Keyset>(
  queryKey: QueryKey,
  load: (before: string | undefined, signal: AbortSignal) => Promise<P>,
): UseInfiniteQueryResult<readonly P[]> {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next?.toString(),
    select: ({ pages }): readonly P[] => pages,
  });
}

/** The pages loaded so far and a button for the next. */
export function LoadMore<P extends Keyset>(props: {
  query: UseInfiniteQueryResult<readonly P[]>;
  children: (pages: readonly P[]) => ReactNode;
}) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = props.query;
  const end = useRef<HTMLParagraphElement>(null);
  const more = async () => {
    const { hasNextPage } = await fetchNextPage();
    // The button was removed: keyboard focus continues here.
    if (!hasNextPage) requestAnimationFrame(() => end.current?.focus());
  };
  const failure = error && <ErrorAlert error={error} onRetry={() => void (data ? fetchNextPage() : refetch())} />;
  if (data === undefined) return failure ?? <Loading />;
  return (
    <>
      {props.children(data)}
      {failure}
      {(hasNextPage || data.length > 1) && (
        <Center>
          {hasNextPage ? (
            <Button onClick={() => void more()} loading={isFetchingNextPage}>{t`Load more`}</Button>
          ) : (
            <Text size="sm" c="dimmed" ref={end} tabIndex={-1}>{t`End of list.`}</Text>
          )}
        </Center>
      )}
    </>
  );
}
