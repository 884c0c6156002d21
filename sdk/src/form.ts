import {
  type Guard,
  type GuardCheck,
  type GuardOptions,
  type GuardOutcome,
  type GuardRejection,
  guardWhenUsed,
} from './guard.ts';

export type { GuardCheck, GuardOptions, GuardOutcome, GuardRejection } from './guard.ts';

/** Options of the adapters: those of `guard`, and where a request has what it needs. */
export interface FormGuardOptions<Request = never> extends GuardOptions {
  /** Field of the body that has the address; `email` by default. */
  field?: string | undefined;
  /** The user's IP address, from the request. */
  clientIp?: ((request: Request) => string | null | undefined) | undefined;
}

/** Body of a 422 reply. */
export interface RejectionBody {
  readonly error: string;
  readonly code: GuardRejection;
  readonly field: string;
  readonly suggestion: string | null;
}

export const REJECTED = 422;
export const DEFAULT_FIELD = 'email';

/** Verifies the address of a form: an object of fields, or FormData. */
interface FormGuard<Request> {
  /** Writes the address to store into the form. `more` comes before what the request says. */
  check(form: unknown, request: Request, more?: GuardCheck): Promise<GuardOutcome>;
  /** Of an outcome that is not `ok`. */
  body(outcome: GuardOutcome & { ok: false }): RejectionBody;
}

type TextOf<Request> = (request: Request) => string | null | undefined;

/** `languageOf`: the Accept-Language header of a request. `usualIp`: what a framework knows itself. */
export function formGuard<Request>(
  options: FormGuardOptions<Request>,
  languageOf: TextOf<Request>,
  usualIp: TextOf<Request> = () => null,
): FormGuard<Request> {
  const { field = DEFAULT_FIELD, clientIp = usualIp, ...policy } = options;
  const verify: Guard = guardWhenUsed(policy);
  return {
    async check(form, request, more) {
      // A box that is ticked, or a button that was pressed.
      const confirmed = ['true', 'on', '1', true].some((yes) => fieldOf(form, `${field}_confirmed`) === yes);
      const said = { clientIp: clientIp(request), language: languageOf(request), confirmed };
      const outcome = await verify(fieldOf(form, field), { ...said, ...more });
      if (outcome.ok) store(form, field, outcome.email);
      return outcome;
    },
    body: ({ code, message, suggestion }) => ({ error: message, code, field, suggestion }),
  };
}

export function fieldOf(form: unknown, name = DEFAULT_FIELD): unknown {
  if (form instanceof FormData) return form.get(name);
  return typeof form === 'object' && form !== null && Object.hasOwn(form, name) ? Reflect.get(form, name) : undefined;
}

/** The address as it was judged takes the place of what was typed, where the form lets it. */
function store(form: unknown, name: string, email: string): void {
  if (form instanceof FormData) form.set(name, email);
  else if (typeof form === 'object' && form !== null) Reflect.set(form, name, email);
}

type NodeHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Of a request of Node, whose headers are an object. */
export function acceptLanguage({ headers }: { readonly headers?: NodeHeaders | undefined }): string | null {
  const value = headers?.['accept-language'];
  return typeof value === 'string' ? value : null;
}

/** What guards of requests leave for the handlers behind them. */
export function outcomes(): { set(request: object, outcome: GuardOutcome): void; of(request: object): GuardOutcome } {
  const known = new WeakMap<object, GuardOutcome>();
  return {
    set: (request, outcome) => known.set(request, outcome),
    of(request) {
      const outcome = known.get(request);
      if (outcome === undefined) throw new TypeError('This request did not pass an emailGuard.');
      return outcome;
    },
  };
}
