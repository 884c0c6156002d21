/** What every refusal of the service has, and what some of them add. */
interface RefusalBody {
  error?: unknown;
  code?: unknown;
  field?: unknown;
  retry_after?: unknown;
  request_id?: unknown;
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** A call that gave no result. `message` is one plain sentence, the service's own where it gave one. */
export class MailvetError extends Error {
  /** HTTP status; 0 where nothing was answered. */
  readonly status: number;
  /**
   * Stable, as the errors page of the service lists them. Three are the client's own: `unreachable` and `timeout`
   * (nothing was answered, so whether the call took effect is not known), and `unexpected_reply` (not a Mailvet answered).
   */
  readonly code: string;
  /** The parameter that is at fault. */
  readonly field: string | null;
  /** Seconds after which asking again makes sense. */
  readonly retryAfter: number | null;
  /** The name under which the service's log has the request. */
  readonly requestId: string | null;
  /** The whole body of the refusal: `limit`, `current_plan`, `upgrade_required`, `existing_id` stand there. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, details: Record<string, unknown>, options?: ErrorOptions) {
    const { error, code, field, retry_after, request_id }: RefusalBody = details;
    super(text(error) ?? `Status ${status} without a sentence.`, options);
    this.name = 'MailvetError';
    this.status = status;
    this.code = text(code) ?? 'unexpected_reply';
    this.field = text(field);
    this.retryAfter = typeof retry_after === 'number' && retry_after >= 0 ? retry_after : null;
    this.requestId = text(request_id);
    this.details = details;
  }
}
