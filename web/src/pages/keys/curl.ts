/** Quotes an argument for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A command that verifies one address. */
export const curl = (origin: string, key: string, email: string): string =>
  [
    `curl -sS ${origin}/v1/verify`,
    `-H ${quoted(`Authorization: Bearer ${key}`)}`,
    `-H ${quoted('Content-Type: application/json')}`,
    `-d ${quoted(JSON.stringify({ email }))}`,
  ].join(' \\\n  ');
