import { ApiError } from '../api/client.ts';

/** What the server says of one field of a form; undefined where it says nothing of it. */
export const fieldError = (error: Error | null, field: string): string | undefined =>
  error instanceof ApiError && error.field === field ? error.message : undefined;

/** What no field of the form can show: it stands below them. */
export const otherError = (error: Error | null, fields: readonly string[]): Error | null =>
  error instanceof ApiError && error.field !== null && fields.includes(error.field) ? null : error;
