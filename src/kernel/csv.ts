/**
 * A line of CSV (RFC 4180). Spreadsheets treat cells that begin with =, +, -, @, tab or CR as formulas; a leading
 * apostrophe marks them as text. Cells that begin with apostrophes followed by one of these get one more, so that the
 * import restores the value by removing exactly one.
 */
export const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(cell).join(',')}\r\n`;

function cell(value: string | number | null): string {
  if (value === null) return '';
  // Numbers are our own, not user input.
  if (typeof value === 'number') return String(value);
  const text = /^'*[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
