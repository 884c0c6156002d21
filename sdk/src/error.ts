/** Body of an error reply; some fields only come with some codes. */
interface ErrorBody {
  error?: unknown;
  code?: unknown;
  field?: unknown;
  retry_after?: unknown;
  request_id?: unknown;
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** A failed call. `message` is the service's own where it sent one. */
export class MailvetError extends Error {
  /** HTTP status; 0 where there was no reply. */
  readonly status: number;
  /**
   * Stable; listed on the errors page of the service. Five are the client's own: `unreachable` and `timeout` (no reply,
   * so the call may or may not have taken effect), `redirected`, `reply_too_large` (more than 32 MiB), and
   * `unexpected_reply` (the reply did not come from Mailvet).
   */
  readonly code: string;
  /** The parameter that caused the error. */
  readonly field: string | null;
  /** Seconds to wait before a retry. */
  readonly retryAfter: number | null;
  /** The id of the request in the service's log. */
  readonly requestId: string | null;
  /** The whole body of the error, with `limit`, `current_plan`, `upgrade_required`, `existing_id`, `scope`,
   * `expired_at`, `budget`, `resets_at`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, details: Record<string, unknown>, options?: ErrorOptions) {
    const { error, code, field, retry_after, request_id }: ErrorBody = details;
    super(text(error) ?? `Status ${status} without an error message.`, options);
    this.name = 'MailvetError';
    this.status = status;
    this.code = text(code) ?? 'unexpected_reply';
    this.field = text(field);
    this.retryAfter = typeof retry_after === 'number' && retry_after >= 0 ? retry_after : null;
    this.requestId = text(request_id);
    this.details = details;
  }
}
