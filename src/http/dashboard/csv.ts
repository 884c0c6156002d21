/**
 * A line of CSV (RFC 4180). A spreadsheet takes what begins with =, +, -, @, tab or return for a formula; an apostrophe
 * before it says that it is text. Texts that begin with apostrophes and then one of these get one more, so that reading
 * can take exactly one off and has what was written.
 */
export const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(cell).join(',')}\r\n`;

function cell(value: string | number | null): string {
  if (value === null) return '';
  // Our own numbers are none of a stranger's text.
  if (typeof value === 'number') return String(value);
  const text = /^'*[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const CSV_TYPE = 'text/csv; charset=utf-8';
export const asDownload = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` });
