import { DASHBOARD_ERRORS } from './errors/dashboard.ts';
import { PUBLIC_ERRORS } from './errors/public.ts';
import type { ListStatus } from './facts/lists.ts';
import type { KeyScope } from './facts/scopes.ts';

/**
 * The catalog of errors: one row per stable code. The HTTP layer, the command line and the errors page of the docs all
 * use it; statuses and default messages are defined nowhere else.
 */
export const ERRORS = { ...PUBLIC_ERRORS, ...DASHBOARD_ERRORS } as const;

export type PublicCode = keyof typeof PUBLIC_ERRORS;
type DashboardCode = keyof typeof DASHBOARD_ERRORS;
export type ErrorCode = PublicCode | DashboardCode;

export const isOfDashboard = (code: ErrorCode): code is DashboardCode => code in DASHBOARD_ERRORS;

const isPublic = (code: string): code is PublicCode => code in PUBLIC_ERRORS;
/** Codes that clients of the public API can receive. */
export const PUBLIC_CODES: readonly PublicCode[] = Object.keys(PUBLIC_ERRORS).filter(isPublic);

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);
export const ERROR_CODES: readonly ErrorCode[] = Object.keys(ERRORS).filter(isErrorCode);

/** Fields that help the caller fix the request, in addition to `error`, `code` and `request_id`. */
export interface ErrorDetails {
  field?: string;
  limit?: number;
  /** Seconds; also sent as `Retry-After`. */
  retry_after?: number;
  current_plan?: string;
  upgrade_required?: string;
  existing_id?: number;
  /** That the key lacks. */
  scope?: KeyScope;
  /** RFC 3339. */
  expired_at?: string;
  /** Of the key, credits in a calendar month. */
  budget?: number;
  /** RFC 3339: when the budget is whole again. */
  resets_at?: string;
  /** Credits that an action costs, and what the account has. */
  needed?: number;
  available?: number;
  /** Of a list. */
  status?: ListStatus;
  /** Of a file: where it cannot be read, and its columns. */
  line?: number;
  columns?: readonly string[];
  /** Dashboard only: the lowest role that is allowed to do this. */
  required_role?: string;
}

/** Why a request failed: the caller's mistake or our failure. A verdict is never an error. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  constructor(code: ErrorCode, message?: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message ?? ERRORS[code].message, cause === undefined ? undefined : { cause });
    this.name = 'ApiError';
    this.code = code;
    this.details = details;
  }
  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** An error that a test key has asked for: nothing failed. */
export class SimulatedError extends ApiError {}

/** Of a request that was dropped because its client has gone: nobody gets it, and nothing failed. */
export class UnawaitedError extends ApiError {}

/** Any other error is a failure of ours. */
export const toApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError('internal_error', undefined, {}, error);
