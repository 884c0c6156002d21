/** How a route speaks the contract of another service: where its key is, and the form of its errors. */
import type { VerifyReply } from '../../contract/verify.ts';
import type { ApiError } from '../../kernel/errors.ts';
import { TIMEOUT_MS } from '../../kernel/facts/limits.ts';
import type { Reason } from '../../kernel/facts/reasons.ts';
import type { HttpRequest } from '../exchange.ts';
import type { ForeignForm } from '../route.ts';

// Our verdicts as the tables of other services know them: every vendor has a row for each.

/** A full mailbox has two verdicts, and what needs no reason has two as well. */
export type CompatVerdict =
  | Exclude<Reason, 'mailbox_full'>
  | 'mailbox_full_for_now'
  | 'mailbox_full_permanently'
  | 'mailbox_exists'
  /** The level is mx: the mailbox was not checked. */
  | 'domain_accepts_mail';

/** What a vendor's reply is made of: a report, or a row of a list. Null: not known. */
export interface CompatResult
  extends Pick<
    VerifyReply,
    'email' | 'status' | 'reason' | 'did_you_mean' | 'validation_type' | 'is_disposable' | 'is_role' | 'is_free'
  > {
  readonly checks: VerifyReply['checks'];
  readonly is_catch_all: boolean | null;
}
/** This includes what contracts derive their score from. */
export type ScoredResult = CompatResult & Pick<VerifyReply, 'confidence'>;

export function verdictOf({ reason, status, validation_type }: CompatResult): CompatVerdict {
  if (reason === 'mailbox_full') return status === 'good' ? 'mailbox_full_for_now' : 'mailbox_full_permanently';
  return reason ?? (validation_type === 'smtp' ? 'mailbox_exists' : 'domain_accepts_mail');
}

/** The parts of an address as its sender wrote them; null where it has no @. */
export function partsOf({ email, checks }: CompatResult): {
  readonly user: string | null;
  readonly domain: string | null;
} {
  const text = email.trim();
  const at = text.lastIndexOf('@');
  if (at < 0 || checks.syntax.result === 'fail') return { user: null, domain: null };
  return { user: text.slice(0, at), domain: text.slice(at + 1).toLowerCase() };
}

/** Returns the mail host of best preference. */
export const mailHostOf = ({ checks }: CompatResult): string | null => {
  const records = (checks.mx.records ?? []).toSorted((a, b) => a.priority - b.priority);
  return records[0]?.host ?? null;
};

/** The names under which a vendor's clients send the key, beside `Authorization: Bearer`. */
interface KeyPlaces {
  /** Names the parameter in the query. */
  readonly query?: string;
  /** Names the field in a JSON body, or in a form. */
  readonly body?: string;
  readonly header?: string;
  /** Words that `Authorization` may have before the key; the empty string: none. */
  readonly schemes?: readonly string[];
}

const textIn = (object: unknown, name: string | undefined): string | null => {
  if (name === undefined || typeof object !== 'object' || object === null || !(name in object)) return null;
  const value: unknown = Reflect.get(object, name);
  return typeof value === 'string' && value !== '' ? value : null;
};

/** The key that a request carries, from the first place that has one. */
export const keyIn = ({ query, body, header, schemes = [] }: KeyPlaces): Pick<ForeignForm, 'keyOf' | 'inBody'> => ({
  inBody: body !== undefined,
  keyOf: (request, sent) =>
    textIn(request.query, query) ??
    textIn(sent, body) ??
    textIn(request.headers, header) ??
    authorized(request, ['bearer', ...schemes]),
});

function authorized({ headers }: HttpRequest, schemes: readonly string[]): string | null {
  const [first = '', second, ...rest] = (headers.authorization ?? '').trim().split(/ +/);
  if (first === '' || rest.length > 0) return null;
  if (second === undefined) return schemes.includes('') ? first : null;
  return schemes.includes(first.toLowerCase()) ? second : null;
}

const IN_MS = { seconds: 1000, milliseconds: 1 } as const;

/**
 * A vendor's time limit as far as ours allows, in whole milliseconds. `sent`: any JSON value; what is no number counts
 * as left out.
 */
export function timeLimit(sent: unknown, unit: keyof typeof IN_MS): number {
  const isGiven = typeof sent === 'number' || (typeof sent === 'string' && sent.trim() !== '');
  const ms = isGiven ? Math.round(Number(sent) * IN_MS[unit]) : Number.NaN;
  return Number.isNaN(ms) ? TIMEOUT_MS.default : Math.min(TIMEOUT_MS.max, Math.max(TIMEOUT_MS.min, ms));
}

/** Errors that mean that the key cannot be used at all. */
export const isAboutKey = ({ status }: ApiError): boolean => status === 401;
