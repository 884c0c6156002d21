import { formatDateTime, formatRelative } from './format.ts';

/** Relative time, with the absolute time as its title; `exact` swaps them. */
export function Timestamp({ at, exact = false }: { at: string; exact?: boolean }) {
  return (
    <time dateTime={at} title={exact ? formatRelative(at) : formatDateTime(at)}>
      {exact ? formatDateTime(at) : formatRelative(at)}
    </time>
  );
}
