import type { TSchema } from 'typebox';
import {
  ApiError,
  type ErrorDetails,
  isOfDashboard,
  SimulatedError,
  toApiError,
  UnawaitedError,
} from '../kernel/errors.ts';
import type { StoredReply } from '../service/admission.ts';
import { closeUnlessRead, type HttpReply, type HttpRequest } from './exchange.ts';
import { type ForeignForm, JSON_TYPE, type ReplyBody, StoredJson } from './route.ts';

/** A change request without any field. `fields`: those it accepts. */
export const nothingToChange = (fields: string): ApiError =>
  new ApiError('missing_parameter', `No changes given: send ${fields}.`);

// Replies that are a page of a longer list.

const pageCount = (total: number, perPage: number): number => Math.max(1, Math.ceil(total / perPage));

/** Makes the `pagination` of a reply. */
export const paginationOf = (total: number, page: number, perPage: number) => ({
  current_page: page,
  per_page: perPage,
  total_pages: pageCount(total, perPage),
  total_count: total,
});

/** RFC 8288: first, prev, next and last, as far as there are such pages; every other parameter is kept. */
export function linkHeader(url: string, total: number, page: number, perPage: number): Record<string, string> {
  const pages = pageCount(total, perPage);
  // A value may itself hold a question mark (RFC 3986 §3.4).
  const start = url.indexOf('?');
  const [path, search] = start < 0 ? [url, ''] : [url.slice(0, start), url.slice(start + 1)];
  const link = (n: number, rel: string) => {
    const params = new URLSearchParams(search);
    params.set('page', String(n));
    return `<${path}?${params}>; rel="${rel}"`;
  };
  const links = [link(1, 'first'), link(pages, 'last')];
  if (page > 1) links.push(link(Math.min(page - 1, pages), 'prev'));
  if (page < pages) links.push(link(page + 1, 'next'));
  return { link: links.join(', ') };
}

/** Makes the body of an error. */
export function errorBody(apiError: ApiError, requestId: string) {
  const details: ErrorDetails = apiError.details;
  return { error: apiError.message, code: apiError.code, request_id: requestId, ...details };
}

/** Headers of an error, whatever route it comes from. */
export function errorHeaders(apiError: ApiError): Record<string, string> & { 'content-type': string } {
  const headers: Record<string, string> & { 'content-type': string } = { 'content-type': JSON_TYPE };
  // The rest of an oversized body is not worth reading.
  if (apiError.status === 413) headers.connection = 'close';
  // The dashboard shows its sign-in page; Bearer is for API clients.
  if (apiError.status === 401 && !isOfDashboard(apiError.code)) headers['www-authenticate'] = 'Bearer';
  if (apiError.details.retry_after !== undefined) headers['retry-after'] = String(apiError.details.retry_after);
  // Errors are simulated by `POST /v1/verify` alone.
  if (apiError instanceof SimulatedError && apiError.status === 405) headers.allow = 'POST';
  return headers;
}

/**
 * To be called with every error that is a reply. A fault of ours is logged whole; that we cannot serve now, in one
 * line; what the caller did wrong is in its reply.
 */
export function noteError(request: HttpRequest, apiError: ApiError): void {
  const { cause, code, message, status } = apiError;
  request.error = { code, status };
  if (apiError instanceof SimulatedError || apiError instanceof UnawaitedError) return;
  if (status === 500) request.log.error({ err: cause ?? apiError, request_id: request.id }, message);
  else if (status > 500) request.log.warn({ code, cause: reasonOf(cause), request_id: request.id }, message);
}

const reasonOf = (cause: unknown): string | undefined => (cause instanceof Error ? cause.message : undefined);

/** An error as it is sent, and as it is stored for an Idempotency-Key. */
export const errorReply = (apiError: ApiError, requestId: string): StoredJson<never> =>
  new StoredJson(apiError.status, JSON.stringify(errorBody(apiError, requestId)), errorHeaders(apiError));

/** Sends an error. What is no ApiError is a fault of ours: logged whole, reported as `internal_error` alone. */
export function sendError(request: HttpRequest, reply: HttpReply, error: unknown, form?: ForeignForm): void {
  const apiError = toApiError(error);
  noteError(request, apiError);
  const { status, body, headers } = errorReply(apiError, request.id);
  closeUnlessRead(request, reply);
  const theirs = form?.error?.(apiError);
  if (theirs === undefined) reply.send(status, body, headers);
  else reply.send(theirs.status, JSON.stringify(theirs.body), headers);
}

/** JSON of the schema `S` as it is sent, and as it is stored for an Idempotency-Key. */
export const jsonReply = <S extends TSchema = never>(
  status: number,
  body: ReplyBody<S>,
  headers: Readonly<Record<string, string>> = {},
): StoredJson<ReplyBody<S>> => new StoredJson(status, JSON.stringify(body), { 'content-type': JSON_TYPE, ...headers });

/** The header of a stored reply, for the row of a route that takes an Idempotency-Key. */
export const REPLAYED = { 'Idempotency-Replayed': '`true` where this is the stored reply of an earlier request.' };

/** Returns a stored reply unchanged. `more`: headers of this request alone. */
export const replayed = (
  { status, body, headers }: StoredReply,
  more: Readonly<Record<string, string>> = {},
): StoredJson<never> => new StoredJson(status, body, { ...headers, 'idempotency-replayed': 'true', ...more });
