interface HeaderObject {
  readonly schema: { readonly type: 'string' | 'integer' };
  readonly description: string;
}

const text = (description: string): HeaderObject => ({ schema: { type: 'string' }, description });
const whole = (description: string): HeaderObject => ({ schema: { type: 'integer' }, description });

const RATE: Readonly<Record<string, HeaderObject>> = {
  'RateLimit-Policy': text('The limit: `"premium";q=300;w=300` (draft-ietf-httpapi-ratelimit-headers).'),
  RateLimit: text('What is left, and seconds until the window ends: `"premium";r=295;t=118`.'),
  'X-RateLimit-Limit': whole('Requests in the window.'),
  'X-RateLimit-Remaining': whole('Requests left in the window.'),
  'X-RateLimit-Reset': whole('Unix time, in seconds, at which the window ends.'),
};

/** Headers that many replies of the public API have: `components.headers` of its document. */
export const SHARED_HEADERS: Readonly<Record<string, HeaderObject>> = {
  'X-Request-Id': text("The id of the request: the caller's own where it was well-formed."),
  'Cache-Control': text('`no-store`'),
  'X-Mailvet-Mode': text('`test` on replies to test keys; otherwise absent.'),
  'WWW-Authenticate': text('`Bearer`'),
  ...RATE,
  'Retry-After': whole('Seconds after which the request may succeed.'),
};

/** Headers that a reply of the public API can have with this status. `own`: those of the route's own reply. */
export function replyHeaders(status: number, own: Readonly<Record<string, string>>): Record<string, object> {
  const shared = ['X-Request-Id', 'Cache-Control', 'X-Mailvet-Mode'];
  shared.push(...(status === 401 ? ['WWW-Authenticate'] : Object.keys(RATE)));
  if (status === 409 || status === 429 || status === 503) shared.push('Retry-After');
  return {
    ...Object.fromEntries(shared.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...Object.fromEntries(Object.entries(own).map(([name, description]) => [name, text(description)])),
  };
}
