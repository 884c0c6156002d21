/** Quotes an argument for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** What a shell takes as it is. */
const PLAIN = /^[\w:/.[\]%-]+$/;

/**
 * A command that sends a request, with a body in JSON or with a file. `key`: null for that in the environment.
 * `output`: a file for the reply.
 */
export function curl(request: {
  method: string;
  url: string;
  key: string | null;
  body?: unknown;
  upload?: { readonly file: string; readonly type: string } | undefined;
  output?: string;
}): string {
  const { method, url, key, body, upload, output } = request;
  // curl sends what has data with POST.
  const implied = body === undefined && upload === undefined ? 'GET' : 'POST';
  return [
    `curl -sS ${method === implied ? '' : `-X ${method} `}${PLAIN.test(url) ? url : quoted(url)}`,
    key === null ? '-H "Authorization: Bearer $MAILVET_KEY"' : `-H ${quoted(`Authorization: Bearer ${key}`)}`,
    ...(body === undefined
      ? []
      : [`-H ${quoted('Content-Type: application/json')}`, `-d ${quoted(JSON.stringify(body))}`]),
    ...(upload === undefined ? [] : [`-H 'Content-Type: ${upload.type}'`, `--data-binary @${upload.file}`]),
    ...(output === undefined ? [] : [`-o ${output}`]),
  ].join(' \\\n  ');
}
