/** Replies without a service, for unit tests of programs that use the client. */
import { MailvetError } from './error.ts';
import type { Verification } from './types.ts';

const CHECKED = { result: 'pass' } as const;
const SKIPPED = { result: 'skipped' } as const;

const verdictOn = (email: string): Verification => ({
  email,
  status: 'good',
  deliverability: 'deliverable',
  reason: null,
  did_you_mean: null,
  validation_type: 'smtp',
  credits_used: 0,
  retry_after: null,
  warnings: [],
  normalized_email: email,
  canonical_email: email,
  canonical_rule: null,
  local_part: email.slice(0, email.lastIndexOf('@')),
  domain: email.slice(email.lastIndexOf('@') + 1),
  tag: null,
  is_disposable: false,
  is_role: false,
  is_free: false,
  is_relay: false,
  relay_provider: null,
  is_catch_all: false,
  is_mailbox_full: false,
  is_disabled: false,
  seen: null,
  history: null,
  confidence: null,
  decision: null,
  checks: {
    syntax: CHECKED,
    filter: CHECKED,
    disposable: { ...CHECKED, list_version: '' },
    domain: CHECKED,
    mx: CHECKED,
    smtp: CHECKED,
    catch_all: SKIPPED,
  },
  id: 'ver_stub',
  duration_ms: 0,
  verified_at: new Date(0).toISOString(),
});

/** The address of a request, or undefined where it has none. */
function addressIn(body: unknown): unknown {
  if (typeof body !== 'string') return undefined;
  const json: unknown = JSON.parse(body);
  return typeof json === 'object' && json !== null && 'email' in json ? json.email : undefined;
}

const refused = ({ status, details }: MailvetError): Response => Response.json(details, { status });

/**
 * For the option `fetch` of `createMailvet`: answers `POST /v1/verify` with what `verdicts` has for the address, as
 * your program sends it. A verdict replaces fields of a deliverable address; a MailvetError is what the call rejects
 * with; an address that is missing is deliverable. Nothing is judged, so fields agree with each other only as far as
 * they are given. All other calls reject with `not_found`.
 */
export function stubFetch(
  verdicts: Readonly<Record<string, Partial<Verification> | MailvetError>> = {},
): typeof globalThis.fetch {
  return async (target, init) => {
    const path = new URL(target instanceof Request ? target.url : target).pathname;
    if (init?.method !== 'POST' || !path.endsWith('/v1/verify'))
      return refused(new MailvetError(404, { error: 'stubFetch answers POST /v1/verify alone.', code: 'not_found' }));
    const email = addressIn(init.body);
    if (typeof email !== 'string')
      return refused(new MailvetError(400, { error: 'email is missing.', code: 'missing_parameter', field: 'email' }));
    const given = Object.hasOwn(verdicts, email) ? verdicts[email] : undefined;
    if (given instanceof MailvetError) return refused(given);
    return Response.json({ ...verdictOn(email), ...given });
  };
}
