import { atTime, fromNow } from './words.ts';

/** A time as distance from now, with the exact one on hover and for programs; with `exact` the other way round. */
export function When({ at, exact = false }: { at: string; exact?: boolean }) {
  return (
    <time dateTime={at} title={exact ? fromNow(at) : atTime(at)}>
      {exact ? atTime(at) : fromNow(at)}
    </time>
  );
}
