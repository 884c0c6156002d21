/** What may be wrong with how a file of addresses was read; it was read all the same. */
const READ_WARNINGS = {
  no_address: 'no row has an address',
  few_addresses: 'fewer than half of the filled cells of the address column are addresses',
  other_address_columns: 'other columns hold addresses that are not verified',
  other_lists: 'other sheets of the workbook, or other lists in the JSON, hold addresses that are not read',
  several_addresses: 'cells hold several addresses',
  encoding_guessed: 'the encoding is not stated and not certain',
  invalid_encoding: 'bytes are not valid in the encoding',
  uneven_rows: 'rows are shorter or longer than the header',
  realigned_rows: 'rows with a stray delimiter were brought back into their columns',
  header_repeated: 'the header is repeated among the rows, which is left out',
  rows_left_out: 'notes or totals at the end are left out',
} as const satisfies Record<string, string>;
export type ReadWarningCode = keyof typeof READ_WARNINGS;

const isReadWarningCode = (text: string): text is ReadWarningCode => Object.hasOwn(READ_WARNINGS, text);
export const READ_WARNING_CODES: readonly ReadWarningCode[] = Object.keys(READ_WARNINGS).filter(isReadWarningCode);
