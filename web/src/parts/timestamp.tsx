import { formatDateTime, formatRelative } from './format.ts';

/** Absolute time with seconds and zone; how long ago that was when it was rendered, as its title. */
export const Timestamp = ({ at }: { at: string }) => (
  <time dateTime={at} title={formatRelative(at)} style={{ whiteSpace: 'nowrap' }}>
    {formatDateTime(at)}
  </time>
);
