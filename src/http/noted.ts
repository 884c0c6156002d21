import type { FastifyRequest } from 'fastify';
import type { Caller } from '../service/gate.ts';

/** What the end of a request is told of who made it, for its log line and the counters. */
export interface Noted {
  /** Whose credits and rate window it was about. */
  caller?: Caller;
  /** Ids of who was signed in, and of the account that they looked at. */
  user?: string;
  account?: string;
}

export const noted = (request: FastifyRequest): Noted => request as FastifyRequest & Noted;
