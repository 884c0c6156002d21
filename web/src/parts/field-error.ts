import { ApiError } from '../api/client.ts';

/** The server's error message for one field of a form, if any. */
export const fieldError = (error: Error | null, field: string): string | undefined =>
  error instanceof ApiError && error.field === field ? error.message : undefined;

/** The error, unless one of these fields shows it. */
export const formError = (error: Error | null, fields: readonly string[]): Error | null =>
  error instanceof ApiError && error.field !== null && fields.includes(error.field) ? null : error;
