import createClient from 'openapi-fetch';
import type { paths } from './schema.ts';

/** The dashboard's private API, typed by the server's own document. The session is a cookie; nothing is kept here. */
export const api = createClient<paths>({ baseUrl: '/', credentials: 'same-origin' });

/** A refusal of the server, as it worded it. */
export class ApiError extends Error {
  readonly status: number;
  /** Stable name, such as `confirmation_mismatch`. */
  readonly code: string;
  /** The parameter that is wrong, where one is. */
  readonly field: string | null;
  constructor(status: number, body: unknown) {
    const { error, code, field } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    super(typeof error === 'string' ? error : `The service answered with status ${status}. Try again.`);
    this.name = 'ApiError';
    this.status = status;
    this.code = typeof code === 'string' ? code : 'unknown';
    this.field = typeof field === 'string' ? field : null;
  }
}

/** The data of a reply; throws ApiError on a refusal. */
export async function unwrap<T>(reply: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await reply.catch(() => {
    throw new Error('The service cannot be reached. Check the connection and try again.');
  });
  if (!response.ok || data === undefined) throw new ApiError(response.status, error);
  return data;
}
