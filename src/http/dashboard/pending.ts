import { Refusal } from '../../kernel/errors.ts';
import type { DashboardAnswer } from './row.ts';

/** Stands where a handler is being written. */
export const pending = () => async (): Promise<DashboardAnswer> => {
  throw new Refusal('internal_error');
};
