import { formatDateTime, formatRelative, formatUtc } from './format.ts';

/**
 * Time with seconds in the zone of the reader. Its title: how long ago that was when it was rendered, and the time in
 * UTC where that is another.
 */
export function Timestamp({ at }: { at: string }) {
  const [own, utc] = [formatDateTime(at), formatUtc(at)];
  return (
    <time
      dateTime={at}
      title={own === utc ? formatRelative(at) : `${formatRelative(at)}, ${utc}`}
      style={{ whiteSpace: 'nowrap' }}
    >
      {own}
    </time>
  );
}
