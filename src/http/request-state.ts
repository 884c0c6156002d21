import type { FastifyRequest } from 'fastify';
import type { Caller } from '../service/admission.ts';

/** What is known of the caller when a request ends, for its log line and the counters. */
interface RequestState {
  /** Whose credits and rate window it was about. */
  caller?: Caller;
  /** Ids of the signed-in user, and of the account in the path. */
  user?: string;
  account?: string;
}

export const requestState = (request: FastifyRequest): RequestState => request as FastifyRequest & RequestState;
