/** How a file is to be read, as an upload or a change of its list says it. */
import type { ListPatch, ListUpload } from '../../contract/lists.ts';
import type { Read } from '../../contract/schema.ts';
import { encodingNamed } from '../../kernel/encoding-names.ts';
import { ApiError } from '../../kernel/errors.ts';
import { given } from '../../kernel/facts/given.ts';
import { delimiterOf } from '../../kernel/facts/lists.ts';
import type { ListService, UploadRequest } from '../../service/lists/service.ts';

type Sent = NonNullable<Read<typeof ListPatch>['read']> | Read<typeof ListUpload>;

/** `within`: where the fields are, such as `read.`. Throws ApiError `invalid_parameter`. */
export function readChoiceOf(sent: Sent, within = ''): NonNullable<UploadRequest['read']> {
  const { columns = null, column = null, header_row: headerRow = null, header = null } = sent;
  const { delimiter = null, encoding = null, sheet = null, entry = null } = sent;
  const known = encoding === null ? null : encodingNamed(encoding);
  if (encoding !== null && known === null)
    throw new ApiError('invalid_parameter', `${within}encoding is unknown: ${JSON.stringify(encoding)}.`, {
      field: `${within}encoding`,
    });
  return {
    columns:
      columns === null ? (column === null ? null : [String(column)]) : columnsChoice(columns, `${within}columns`),
    headerRow: headerRow ?? (header === null || header === 'auto' ? null : String(header) === 'true' ? 1 : 0),
    delimiter: delimiter === null ? null : delimiterOf(delimiter),
    encoding: known,
    sheet: sheet === null ? null : String(sheet),
    entry,
  };
}

/** Throws ApiError `invalid_parameter`, `missing_parameter`. */
export function listReading({ read, dedupe }: Read<typeof ListPatch>): Parameters<ListService['read']>[2] {
  if (read === undefined && dedupe === undefined)
    throw new ApiError('missing_parameter', 'The parameter "read" is missing.', { field: 'read' });
  return given({ read: read && readChoiceOf(read, 'read.'), dedupe });
}

const ALL_COLUMNS = 'all';

/** `all`, names or numbers with commas between them, or a JSON array of these: names may have commas. */
function columnsChoice(
  columns: string | readonly (string | number)[],
  field: string,
): readonly string[] | typeof ALL_COLUMNS {
  if (typeof columns !== 'string') return columns.map(String);
  if (columns.trim() === ALL_COLUMNS) return ALL_COLUMNS;
  if (!columns.trim().startsWith('[')) return columns.split(',').map((name) => name.trim());
  const names = parsedOrNull(columns);
  if (Array.isArray(names) && names.length > 0 && names.every((name) => ['string', 'number'].includes(typeof name)))
    return names.map(String);
  throw new ApiError('invalid_parameter', `${field} must be names or numbers, or a JSON array of them.`, { field });
}

function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
