/** A request in the queue, and what its caller is told when nothing comes of it. */
import { ApiError, UnawaitedError } from '../../kernel/errors.ts';
import type { Admission } from '../store.ts';
import type { ChargeRequest } from './state.ts';

export interface Waiting {
  readonly request: ChargeRequest;
  /** The account, or the hash of a key whose account is not known yet. */
  readonly owner: string;
  /** `elapsed()` from which nobody waits for it any longer. */
  readonly until: number;
  /** Its transaction has begun: what becomes of it is not known before the end of that. */
  entered: boolean;
  /** The caller was told that it took too long. */
  expired: boolean;
  /** The caller was told what became of it. */
  answered: boolean;
  resolve(value: unknown): void;
  readonly reject: (error: unknown) => void;
}

/** The store cannot record. */
export const unavailable = (cause: unknown): ApiError =>
  cause instanceof ApiError
    ? cause
    : new ApiError(
        'verification_unavailable',
        'The store cannot record results right now; nothing was charged.',
        { retry_after: 5 },
        cause,
      );

/** It took too long. */
export function tooLate({ entered, request }: Waiting): ApiError {
  const sentence =
    entered || request.kind === 'settle'
      ? 'The store did not confirm in time. If this was charged, its result is in the log, and a retry with the same Idempotency-Key returns it.'
      : 'The store did not answer in time; nothing was charged.';
  return new ApiError('verification_unavailable', sentence, { retry_after: 5 });
}

/** Its client has gone. */
export const unawaited = (): ApiError =>
  new UnawaitedError('verification_unavailable', 'The client has gone; nothing was charged.', { retry_after: 5 });

export const isAdmission = (value: unknown): value is Admission =>
  typeof value === 'object' && value !== null && 'outcome' in value;
