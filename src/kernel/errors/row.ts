/** One error of the catalog. */
export interface ErrorRow {
  /** HTTP status, RFC 9110. */
  readonly status: number;
  /** Used if the error was thrown without a more specific message. */
  readonly message: string;
  /** What the caller can do about it; for the docs. */
  readonly fix: string;
}
