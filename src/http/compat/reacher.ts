/**
 * Reacher, the HTTP backend of check-if-email-exists 0.10. Source:
 * https://github.com/reacherhq/check-if-email-exists/blob/master/backend/openapi.json, as of 2026-11-22.
 */
import Type from 'typebox';
import { TIMEOUT_MS } from '../../kernel/facts/limits.ts';
import { type ForeignForm, type Route, route } from '../route.ts';
import { keyIn } from './vendor.ts';
import { type CompatResult, type CompatVerdict, partsOf, verdictOf } from './verdict.ts';
import { verifyForVendor } from './verify.ts';

interface Smtp {
  readonly can_connect_smtp: boolean;
  readonly has_full_inbox: boolean;
  readonly is_catch_all: boolean;
  readonly is_deliverable: boolean;
  readonly is_disabled: boolean;
}
interface Judgment {
  readonly is_reachable: 'safe' | 'risky' | 'invalid' | 'unknown';
  /** Null: the server gave no answer, which Reacher reports as an error in the place of the details. */
  readonly smtp: Smtp | null;
}

const NOT_ASKED: Smtp = {
  can_connect_smtp: false,
  has_full_inbox: false,
  is_catch_all: false,
  is_deliverable: false,
  is_disabled: false,
};
const ASKED: Smtp = { ...NOT_ASKED, can_connect_smtp: true };
const row = (is_reachable: Judgment['is_reachable'], smtp: Smtp | null): Judgment => ({ is_reachable, smtp });

export const REACHER: Readonly<Record<CompatVerdict, Judgment>> = {
  mailbox_exists: row('safe', { ...ASKED, is_deliverable: true }),
  domain_accepts_mail: row('unknown', null),
  catch_all: row('risky', { ...ASKED, is_catch_all: true, is_deliverable: true }),
  disposable_domain: row('risky', null),
  mailbox_full_for_now: row('risky', { ...ASKED, has_full_inbox: true }),
  mailbox_full_permanently: row('risky', { ...ASKED, has_full_inbox: true }),
  mailbox_not_found: row('invalid', ASKED),
  mailbox_disabled: row('invalid', { ...ASKED, is_disabled: true }),
  relay_denied: row('invalid', ASKED),
  blocked_by_filter: row('invalid', NOT_ASKED),
  invalid_format: row('invalid', NOT_ASKED),
  domain_not_found: row('invalid', NOT_ASKED),
  no_mx_records: row('invalid', NOT_ASKED),
  null_mx: row('invalid', NOT_ASKED),
  mx_unusable: row('invalid', NOT_ASKED),
  dns_failure: row('unknown', null),
  greylisted: row('unknown', null),
  smtp_temporary_failure: row('unknown', null),
  smtp_timeout: row('unknown', null),
  smtp_unreachable: row('unknown', null),
  smtp_blocked: row('unknown', null),
  smtp_unverifiable: row('unknown', null),
};

const errorOf = (type: string, message: string) => ({ error: { type, message } });

/** Reacher calls an address of a function, such as sales@, risky whatever its server says. */
export function reacherReply(result: CompatResult) {
  const { is_reachable, smtp } = REACHER[verdictOf(result)];
  const { user, domain } = partsOf(result);
  const { checks, reason } = result;
  const valid = checks.syntax.result !== 'fail';
  return {
    input: result.email,
    is_reachable: is_reachable === 'safe' && result.is_role === true ? 'risky' : is_reachable,
    misc: {
      is_disposable: result.is_disposable,
      is_role_account: result.is_role ?? false,
      is_b2c: result.is_free ?? false,
      gravatar_url: null,
      haveibeenpwned: null,
    },
    mx:
      reason === 'dns_failure'
        ? errorOf('ResolveError', 'The name servers of the domain are failing.')
        : {
            accepts_mail: checks.mx.result === 'pass',
            records: (checks.mx.records ?? []).map(({ host }) => `${host}.`),
          },
    smtp: smtp ?? errorOf('SmtpError', `The mailbox was not verified: ${reason ?? 'the plan has no smtp level'}.`),
    syntax: {
      address: valid ? result.email.trim() : null,
      domain: domain ?? '',
      is_valid_syntax: valid,
      username: user ?? '',
      normalized_email: user === null ? null : `${user}@${domain}`,
      suggestion: result.did_you_mean,
    },
  };
}

export const REACHER_FORM: ForeignForm = {
  ...keyIn({ header: 'x-reacher-secret', schemes: [''] }),
  error: (apiError) => ({ status: apiError.status, body: { error: apiError.message } }),
};

const checkRoute = (version: 'v0' | 'v1'): Route =>
  route({
    method: 'POST',
    path: `/${version}/check_email`,
    access: 'charged-api-key:verify',
    form: REACHER_FORM,
    input: { body: Type.Object({ to_email: Type.Unknown() }), lenient: true },
    serve: (context) => {
      const verify = verifyForVendor(context);
      return async (granted, { body: { to_email: sent } }) => {
        // Versions before 0.9 took a list of one.
        const email: unknown = Array.isArray(sent) ? sent[0] : sent;
        const { report } = await verify(granted, { email, field: 'to_email', timeoutMs: TIMEOUT_MS.max });
        return { body: reacherReply(report) };
      };
    },
  });

export const REACHER_CHECK_ROUTES: readonly Route[] = [checkRoute('v0'), checkRoute('v1')];
