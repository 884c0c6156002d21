import Type, { type TSchema } from 'typebox';

const text = (description: string) => Type.String({ description });
const whole = (description: string) => Type.Integer({ description });

const RATE: Record<string, TSchema> = {
  'RateLimit-Policy': text('The limit: `"premium";q=300;w=300` (draft-ietf-httpapi-ratelimit-headers).'),
  RateLimit: text('What is left, and seconds until the window ends: `"premium";r=295;t=118`.'),
  'X-RateLimit-Limit': whole('Requests in the window.'),
  'X-RateLimit-Remaining': whole('Requests left in the window.'),
  'X-RateLimit-Reset': whole('Unix time, in seconds, at which the window ends.'),
};
const RETRY = { 'Retry-After': whole('Seconds after which the request may fare better.') };

/** Headers that a reply of this status can have, for the OpenAPI document. `own`: those of the route's own reply. */
export function replyHeaders(status: number, own: Readonly<Record<string, string>>): Record<string, TSchema> {
  const headers: Record<string, TSchema> = {
    'X-Request-Id': text("The request's name: the caller's own where it was well-formed."),
    'Cache-Control': text('`no-store`'),
  };
  if (status === 401) headers['WWW-Authenticate'] = text('`Bearer`');
  else Object.assign(headers, RATE);
  if (status === 409 || status === 429 || status === 503) Object.assign(headers, RETRY);
  for (const [name, description] of Object.entries(own)) headers[name] = text(description);
  return headers;
}
