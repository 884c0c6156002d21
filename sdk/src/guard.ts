import { createMailvet } from './client.ts';
import { MailvetError } from './error.ts';
import { unknownOption } from './transport.ts';
import type { Decision, MailvetOptions, Verification, VerifyRequest } from './types.ts';

type Action = 'accept' | 'reject';

/** Why an address was not accepted by the guard's own options. */
type OwnRejection =
  | 'invalid_address'
  | 'did_you_mean'
  | 'blocked'
  | 'disposable'
  | 'undeliverable'
  | 'role'
  | 'catch_all'
  | 'unknown';
/** Why an address was not accepted. Further ones come from a policy; `outage`: there was no verdict. */
export type GuardRejection = OwnRejection | 'relay' | 'free' | 'full' | 'tag' | 'seen_before' | 'outage';

export interface GuardOptions extends Pick<MailvetOptions, 'url' | 'key' | 'fetch'> {
  /**
   * Name of the policy of the account that decides, in place of all options below but `scope`, `timeout` and `onError`;
   * with one of the others it throws.
   */
  policy?: string | undefined;
  /**
   * Your name for the place where a mailbox may count once, such as `signup`: the service remembers the mailbox there,
   * and `result.seen` says whether it was there before. A policy decides by it (`seen_before`).
   */
  scope?: string | undefined;
  /** `mx` by default; `smtp` also asks the mail server. */
  validationType?: VerifyRequest['validation_type'];
  /** Milliseconds after which an address is accepted unverified; 4,000 by default. */
  timeout?: number | undefined;
  /** Disposable addresses; `reject` by default. */
  disposable?: Action | undefined;
  /** Shared mailboxes such as `info@`; `accept` by default. */
  role?: Action | undefined;
  /** Domains that accept every mailbox, which only `smtp` finds out; `accept` by default. */
  catchAll?: Action | undefined;
  /** Addresses about which a check gave no answer, such as those of a domain with broken DNS; `accept` by default. */
  unknown?: Action | undefined;
  /** Whether a likely typo is offered for correction once; `offer` by default. */
  suggestions?: 'offer' | 'ignore' | undefined;
  /** Replaces messages; `{suggestion}` stands for the suggested address. */
  messages?: Partial<Record<OwnRejection, string>> | undefined;
  /** Called where an address was accepted unverified; writes a line to the console by default. */
  onError?: ((error: unknown) => void) | undefined;
}

/** About one address. */
export interface GuardCheck {
  /**
   * The user's IP address, which filters match, as a framework or a proxy reports it: with a port, or a list as in
   * X-Forwarded-For, whose first address counts. What is no address is left out.
   */
  clientIp?: string | null | undefined;
  /**
   * Of the messages of a policy: a tag such as `de`, or the value of the user's Accept-Language header. Adapters find
   * it themselves.
   */
  language?: string | null | undefined;
  /** The user has seen the suggestion and keeps the address. */
  confirmed?: boolean | undefined;
  /** Ends the check, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export type GuardOutcome =
  | {
      readonly ok: true;
      /**
       * `unverified`: there was no verdict, because of an outage, a setting or a limit. `onError` was called. `review`:
       * the policy accepts the address to be looked at later; `result.decision` says why.
       */
      readonly code: 'accepted' | 'review' | 'unverified';
      /**
       * The address to store: what was judged, rather than what was typed. Without blanks and invisible characters
       * around it, its domain in lower-case ASCII.
       */
      readonly email: string;
      readonly message: null;
      readonly suggestion: null;
      readonly result: Verification | null;
    }
  | {
      readonly ok: false;
      readonly code: GuardRejection;
      readonly email: null;
      /** For the user. */
      readonly message: string;
      /** An address to offer; never use it without the user's consent. */
      readonly suggestion: string | null;
      /** Null where the service was not asked, or did not take it for an address. */
      readonly result: Verification | null;
    };

/** Rejects only with the reason of the caller's signal, or TypeError for an option that it does not have. */
export type Guard = (email: unknown, check?: GuardCheck) => Promise<GuardOutcome>;

const MESSAGES: Readonly<Record<OwnRejection, string>> = {
  invalid_address: 'Enter a valid email address.',
  did_you_mean: 'Did you mean {suggestion}?',
  blocked: 'This email address cannot be used here.',
  disposable: 'Use a permanent email address.',
  undeliverable: 'This email address cannot receive mail.',
  role: 'Use a personal email address.',
  catch_all: 'This email address could not be confirmed. Use another one.',
  unknown: 'This email address could not be confirmed. Try again later, or use another one.',
};

const OPTIONS: Readonly<Record<keyof GuardOptions, readonly string[] | null>> = {
  url: null,
  key: null,
  fetch: null,
  policy: null,
  scope: null,
  validationType: ['mx', 'smtp'],
  timeout: null,
  disposable: ['accept', 'reject'],
  role: ['accept', 'reject'],
  catchAll: ['accept', 'reject'],
  unknown: ['accept', 'reject'],
  suggestions: ['offer', 'ignore'],
  messages: null,
  onError: null,
};

/** What a policy says in their place. */
const OWN_RULES = ['validationType', 'disposable', 'role', 'catchAll', 'unknown', 'suggestions', 'messages'] as const;

const CHECK_OPTIONS: Readonly<Record<keyof GuardCheck, true>> = {
  clientIp: true,
  language: true,
  confirmed: true,
  signal: true,
};

const TIMEOUT_MS = 4000;
/** Milliseconds left for the way there and back, and the least that the service takes for a check. */
const TRANSFER_MS = 1000;
const SHORTEST_CHECK_MS = 1000;
const LONGEST_CHECK_MS = 30_000;
/** In characters: 64, an @ and 255 (RFC 5321 §4.5.3.1). What is longer is no address and need not be sent. */
const LONGEST_ADDRESS = 320;

/**
 * Decides whether an address may sign up. Outages and errors of the service accept the address, unverified, so that
 * they do not stop sign-ups; what is not an address is rejected even then. Throws TypeError for options that cannot be
 * used.
 */
export function guard(options: GuardOptions): Guard {
  checkOptions(options);
  const { timeout = TIMEOUT_MS, messages, onError = report, suggestions = 'offer' } = options;
  const { url, key, fetch, policy, scope, validationType = 'mx' } = options;
  const mailvet = createMailvet({ url, key, fetch, timeout });
  const timeout_ms = Math.min(Math.max(timeout - TRANSFER_MS, SHORTEST_CHECK_MS), LONGEST_CHECK_MS);
  const offered = recentlyOffered();
  const flights = new Map<string, Flight>();

  function rejected(
    code: OwnRejection,
    result: Verification | null = null,
    suggestion = result?.did_you_mean ?? null,
  ): GuardOutcome {
    const message = (messages?.[code] ?? MESSAGES[code]).replaceAll('{suggestion}', () => suggestion ?? '');
    return { ok: false, code, email: null, message, suggestion, result };
  }

  async function verify({ email, clientIp, language }: Question, signal: AbortSignal | undefined) {
    const by =
      policy === undefined
        ? { validation_type: validationType }
        : { policy, ...(language === null ? {} : { language }) };
    const request: VerifyRequest = { email, timeout_ms, ...by, ...(scope === undefined ? {} : { scope }) };
    if (clientIp === null) return mailvet.verify(request, { signal });
    try {
      return await mailvet.verify({ ...request, client_ip: clientIp }, { signal });
    } catch (error) {
      // Without the address of the user rather than without a verdict.
      if (rejectedField(error) === 'client_ip') return mailvet.verify(request, { signal });
      throw error;
    }
  }

  /** As the policy says. A typo to be reviewed is offered for correction first, as without a policy. */
  function follow(result: Verification, mayAccept: boolean): GuardOutcome {
    const { decision, did_you_mean: suggestion } = result;
    const stored = { email: result.normalized_email ?? result.email, message: null, suggestion: null, result };
    // A service of an earlier version does not know the field.
    if (decision == null) throw new TypeError(`The reply has no decision of the policy ${policy}.`);
    const { action, because, message } = decision;
    if (action === 'reject')
      return { ok: false, code: codeOf(decision, result), email: null, message: message ?? '', suggestion, result };
    if (action === 'accept') return { ok: true, code: 'accepted', ...stored };
    if (because.includes('typo') && suggestion !== null && !mayAccept) {
      offered.add(result.email, result);
      return { ok: false, code: 'did_you_mean', email: null, message: message ?? '', suggestion, result };
    }
    return { ok: true, code: 'review', ...stored };
  }

  /** Without a verdict: as the policy says, where the service could tell; else the address is accepted. */
  function withoutVerdict(error: unknown, email: string): GuardOutcome {
    const unverified = rejectedField(error) === 'email' ? null : plausible(email);
    if (unverified === null) return rejected('invalid_address');
    onError(error);
    const { action, message } = decisionIn(error);
    if (action === 'reject')
      return { ok: false, code: 'outage', email: null, message: message ?? '', suggestion: null, result: null };
    const code = action === 'review' ? 'review' : 'unverified';
    return { ok: true, code, email: unverified, message: null, suggestion: null, result: null };
  }

  async function decide(question: Question, signal: AbortSignal): Promise<GuardOutcome> {
    const { email, confirmed } = question;
    const mayAccept = confirmed || suggestions === 'ignore' || offered.has(email);
    let result: Verification;
    try {
      // What was remembered at the first attempt would be seen at the second.
      result = (mayAccept && scope !== undefined ? offered.get(email) : null) ?? (await verify(question, signal));
      if (policy !== undefined) return follow(result, mayAccept);
    } catch (error) {
      if (signal.aborted) throw error;
      return withoutVerdict(error, email);
    }
    if (typeof result.did_you_mean === 'string' && !mayAccept) {
      offered.add(email, result);
      return rejected('did_you_mean', result);
    }
    const code = rejectionOf(result, options);
    if (code !== null) return rejected(code, result);
    const stored = result.normalized_email ?? email;
    return { ok: true, code: 'accepted', email: stored, message: null, suggestion: null, result };
  }

  return async (given, check = {}) => {
    for (const name of Object.keys(check))
      if (!Object.hasOwn(CHECK_OPTIONS, name)) throw unknownOption('A check', name, CHECK_OPTIONS);
    const { clientIp, language, confirmed = false, signal } = check;
    const email = typeof given === 'string' ? trimmed(given) : '';
    if (email === '' || email.length > LONGEST_ADDRESS) return rejected('invalid_address');
    signal?.throwIfAborted();
    const question = { email, clientIp: addressIn(clientIp), language: languageIn(language), confirmed };
    const key = JSON.stringify(question);
    const flight = flights.get(key) ?? begin(key, (ended) => decide(question, ended));
    return signal === undefined ? join(flight) : joinUntil(flight, signal);
  };

  function begin(key: string, run: (ended: AbortSignal) => Promise<GuardOutcome>): Flight {
    const end = new AbortController();
    const land = () => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    const abort = (reason: unknown) => {
      land();
      end.abort(reason);
    };
    const flight: Flight = { outcome: run(end.signal).finally(land), waiting: 0, abort };
    flights.set(key, flight);
    return flight;
  }
}

interface Question {
  readonly email: string;
  readonly clientIp: string | null;
  readonly language: string | null;
  readonly confirmed: boolean;
}

/** What the service takes; a longer one is left out, rather than the verdict. */
const LONGEST_LANGUAGE = 200;
const languageIn = (text: string | null | undefined): string | null =>
  typeof text === 'string' && text !== '' && text.length <= LONGEST_LANGUAGE ? text : null;

/** Codes of a policy's grounds; a ground of a later version is its own code. */
function codeOf({ because: [ground = 'unknown'] }: Decision, { reason }: Verification): GuardRejection {
  if (ground === 'typo') return 'did_you_mean';
  if (ground !== 'undeliverable') return ground;
  if (reason === 'invalid_format') return 'invalid_address';
  return reason === 'blocked_by_filter' ? 'blocked' : ground;
}

/** Of an error that the service sent for a request with a policy. */
function decisionIn(error: unknown): Partial<Decision> {
  const decision = error instanceof MailvetError ? error.details.decision : null;
  return typeof decision === 'object' && decision !== null ? decision : {};
}

/**
 * For adapters, which are made where a module is loaded: a build does so without the environment of the service. Where
 * `url` or `key` is undefined, the first check rejects with TypeError; other options are checked at once.
 */
export function guardWhenUsed(options: GuardOptions): Guard {
  if (options.url !== undefined && options.key !== undefined) return guard(options);
  checkOptions(options);
  return async (email, check) => guard(options)(email, check);
}

/** A check under way. Whoever sends the same meanwhile, as a double click does, gets its outcome. */
interface Flight {
  readonly outcome: Promise<GuardOutcome>;
  waiting: number;
  readonly abort: (reason: unknown) => void;
}

function join(flight: Flight): Promise<GuardOutcome> {
  flight.waiting += 1;
  return flight.outcome;
}

/** The check itself ends when nobody waits for it any more. */
async function joinUntil(flight: Flight, signal: AbortSignal): Promise<GuardOutcome> {
  const outcome = join(flight);
  let leave = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => {
      flight.waiting -= 1;
      if (flight.waiting === 0) flight.abort(signal.reason);
      reject(signal.reason);
    };
  });
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([outcome, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function rejectionOf(result: Verification, policy: GuardOptions): OwnRejection | null {
  const { disposable = 'reject', role = 'accept', catchAll = 'accept', unknown = 'accept' } = policy;
  const { reason, deliverability } = result;
  if (reason === 'invalid_format') return 'invalid_address';
  if (reason === 'blocked_by_filter') return 'blocked';
  if (result.is_disposable && disposable === 'reject') return 'disposable';
  if (deliverability === 'undeliverable') return 'undeliverable';
  if (result.is_role && role === 'reject') return 'role';
  if (result.is_catch_all === true && catchAll === 'reject') return 'catch_all';
  // Without a reason, the mailbox was not asked for: `mx` says nothing about it.
  if (deliverability === 'unknown' && reason !== null && unknown === 'reject') return 'unknown';
  return null;
}

/** Of one part between dots: without a quoted local part, and of a domain in any script. */
const WORD = String.raw`[^\s"(),.:;<>@[\\\]]+`;
const LABEL = String.raw`[-\da-z\u0080-\uffff]+`;
/** A domain has a dot; those of other scripts are not ASCII. */
const ADDRESS = new RegExp(
  String.raw`^("[^]*"|${WORD}(\.${WORD})*)@(?=[^]*[.\u0080-\uffff])${LABEL}(\.${LABEL})*$`,
  'i',
);
/** White space, zero-width characters and marks of direction, which the service drops around an address as well. */
const BLANK = /^[\s\u0085\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]$/;

/** Without the blanks at both ends; linear, unlike a pattern with `$`. */
function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && BLANK.test(text.charAt(start))) start += 1;
  while (end > start && BLANK.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Controls and what nobody sees, which the service refuses within a local part. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u;

/**
 * For want of a verdict: the address to store, its domain as the platform's URLs have it (UTS 46), which makes ASCII of
 * full-width letters and dots. Null only for what the service would never take for an address.
 */
function plausible(email: string): string | null {
  const at = email.lastIndexOf('@');
  const [local, domain] = [email.slice(0, at), email.slice(at + 1)];
  if (!ADDRESS.test(email) || INVISIBLE.test(local)) return null;
  if (/^[\x20-\x7e]*$/.test(domain)) return `${local}@${domain.toLowerCase()}`;
  try {
    return `${local}@${new URL(`https://${domain}`).hostname}`;
  } catch {
    // Not a host name in any script.
    return null;
  }
}

/** The field that the service could not take. */
const rejectedField = (error: unknown): string | null =>
  error instanceof MailvetError && error.status === 400 ? error.field : null;

function report(error: unknown): void {
  const { code, message } = error instanceof MailvetError ? error : { code: 'error', message: String(error) };
  console.error(`mailvet: an address was accepted unverified (${code}): ${message}`);
}

/** With brackets, port, zone and blanks. */
const LONGEST_FORWARDED = 100;

/**
 * The first address of a list such as X-Forwarded-For, without port, brackets and zone; null where it cannot be one.
 * The service judges it, so this need not be exact.
 */
function addressIn(text: string | null | undefined): string | null {
  const [first = ''] = typeof text === 'string' ? text.split(',', 1) : [];
  // Anybody may send such a header, and patterns take long for a long one.
  if (first.length > LONGEST_FORWARDED) return null;
  const address = first
    .trim()
    .replace(/^"|"$/g, '')
    .replace(/^\[([^\]]*)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '');
  return /^(\d{1,3}(\.\d{1,3}){3}|[\da-f:.]*:[\da-f:.]*)$/i.test(address) && address.length <= 45 ? address : null;
}

/** Long enough to correct a form. */
const OFFERED_FOR_MS = 15 * 60_000;
const OFFERED_MOST = 10_000;

/**
 * Addresses whose suggestion was answered: whoever begins to send one after that has seen it, and keeps the address.
 * In memory, so `confirmed` is surer where there are many processes.
 */
function recentlyOffered() {
  const until = new Map<string, { readonly end: number; readonly result: Verification }>();
  const get = (email: string): Verification | null => {
    const found = until.get(email.toLowerCase());
    return found !== undefined && found.end > Date.now() ? found.result : null;
  };
  return {
    get,
    has: (email: string): boolean => get(email) !== null,
    add(email: string, result: Verification): void {
      const now = Date.now();
      const name = email.toLowerCase();
      // In the order of their ends, as all last equally long.
      until.delete(name);
      for (const [first, { end }] of until) {
        if (end > now && until.size < OFFERED_MOST) break;
        until.delete(first);
      }
      until.set(name, { end: now + OFFERED_FOR_MS, result });
    },
  };
}

/** As the service has it. */
const SCOPE = /^[a-z0-9_.-]{1,64}$/;

function checkOptions(options: GuardOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (!isOption(name)) throw unknownOption('guard', name, OPTIONS);
    const values = OPTIONS[name];
    if (values !== null && value !== undefined && !values.includes(value))
      throw new TypeError(`${name} must be ${values.map((one) => `'${one}'`).join(' or ')}.`);
  }
  const { policy, scope, messages = {} } = options;
  if (scope !== undefined && (typeof scope !== 'string' || !SCOPE.test(scope)))
    throw new TypeError('scope must be a short name of a to z, 0 to 9, "_", "." and "-".');
  if (policy !== undefined) {
    if (typeof policy !== 'string' || policy === '') throw new TypeError('policy must be the name of a policy.');
    const other = OWN_RULES.find((name) => options[name] !== undefined);
    if (other !== undefined)
      throw new TypeError(`policy and ${other} cannot be combined: the policy says it, in the dashboard or the API.`);
  }
  for (const code of Object.keys(messages))
    if (!Object.hasOwn(MESSAGES, code))
      throw new TypeError(`messages has no code ${code}; it has ${Object.keys(MESSAGES).join(', ')}.`);
}

const isOption = (name: string): name is keyof GuardOptions => Object.hasOwn(OPTIONS, name);
