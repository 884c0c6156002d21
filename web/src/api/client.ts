import createClient from 'openapi-fetch';
import type { Error as ErrorReply, paths } from './schema.ts';
export type ErrorCode = ErrorReply['code'];

/** The dashboard's private API, typed from the server's OpenAPI document. The session is an HttpOnly cookie. */
export const api = createClient<paths>({ baseUrl: location.origin, credentials: 'same-origin' });

/** An error reply of the server. */
export class ApiError extends Error {
  readonly status: number;
  /** Stable name, such as `confirmation_mismatch`. */
  readonly code: string;
  /** The invalid parameter, if the error concerns one. */
  readonly field: string | null;
  /** What else the reply says, such as `line` or `columns`. */
  readonly details: Readonly<Record<string, unknown>>;
  constructor(status: number, body: unknown) {
    const details = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    const { error, code, field } = details;
    super(typeof error === 'string' ? error : `The service returned status ${status}. Try again.`);
    this.name = 'ApiError';
    this.status = status;
    this.code = typeof code === 'string' ? code : 'unknown';
    this.details = details;
    this.field = typeof field === 'string' ? field : null;
  }
}

/** There was no reply. */
export const unreachable = (): Error =>
  new Error(
    navigator.onLine
      ? 'Cannot reach the service. Check your connection and try again.'
      : 'You are offline. Try again when the connection is back.',
  );

/** Whether what was asked for does not exist, or is not the user's. */
export const isNotFound = (error: Error | null): boolean => error instanceof ApiError && error.status === 404;

/** The data of a reply; throws ApiError for an error reply. */
export async function unwrap<T>(reply: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await reply.catch(() => {
    throw unreachable();
  });
  if (!response.ok || data === undefined) throw new ApiError(response.status, error);
  return data;
}
