import { ApiError } from '../kernel/errors.ts';

/** A change request without any field. `fields`: those it accepts. */
export const nothingToChange = (fields: string): ApiError =>
  new ApiError('missing_parameter', `No changes given: send ${fields}.`);
