import { FileError } from '../../files/problems.ts';
import { ApiError } from '../../kernel/errors.ts';

/** What is wrong with a file, as the API reports it; any other error as it is. */
export const withoutFileError = (error: unknown): unknown => (error instanceof FileError ? fileError(error) : error);

function fileError({ message, problem }: FileError): ApiError {
  switch (problem.code) {
    case 'list_too_large':
      return new ApiError(problem.code, message, { limit: problem.limit, ...lineOf(problem) });
    case 'unreadable_file':
      return new ApiError(problem.code, message, lineOf(problem));
    case 'no_address_column':
      return new ApiError(problem.code, message, { field: 'column', columns: problem.columns });
  }
}

const lineOf = ({ line }: { line: number | null }) => (line === null ? {} : { line });
