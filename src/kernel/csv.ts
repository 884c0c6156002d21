/** A line of CSV (RFC 4180) that no spreadsheet takes for formulas. */
export const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(cell).join(',')}\r\n`;

function cell(value: string | number | null): string {
  if (value === null) return '';
  // Numbers are our own, not user input.
  return typeof value === 'number' ? String(value) : quoted(notFormula(value));
}

/**
 * Spreadsheets treat cells that begin with =, +, -, @, tab or a line break as formulas, some also with the first four
 * in full width (OWASP, "CSV Injection"); a leading apostrophe marks them as text. Cells that begin with apostrophes
 * followed by one of these get one more, so that the import restores the value by removing exactly one.
 */
export const notFormula = (text: string): string => (/^'*[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text);

/** A cell as RFC 4180 has it. */
export const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
