/** One argument as a POSIX shell takes it literally. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A command that verifies one address, to be pasted as it stands. */
export const curl = (origin: string, key: string, email: string): string =>
  [
    `curl -sS ${origin}/v1/verify`,
    `-H ${quoted(`Authorization: Bearer ${key}`)}`,
    `-H ${quoted('Content-Type: application/json')}`,
    `-d ${quoted(JSON.stringify({ email }))}`,
  ].join(' \\\n  ');
