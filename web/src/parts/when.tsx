import { atTime, fromNow } from './words.ts';

/** A time as distance from now, with the exact one on hover and for programs. */
export function When({ at }: { at: string }) {
  return (
    <time dateTime={at} title={atTime(at)}>
      {fromNow(at)}
    </time>
  );
}
