/** The address in a cell of a file. */
import { trimBlanks } from '../kernel/blanks.ts';

/**
 * What to verify: the cell without white space around it, without `mailto:`, and of `Ada <ada@example.com>` the part in
 * angle brackets. Null for a blank cell.
 */
export function addressIn(cell: string): string | null {
  let text = trimBlanks(cell);
  if (text.endsWith('>')) {
    const open = text.lastIndexOf('<');
    if (open >= 0) text = trimBlanks(text.slice(open + 1, -1));
  }
  if (/^mailto:/i.test(text)) text = ofMailto(text.slice('mailto:'.length));
  return text === '' ? null : text;
}

/** RFC 6068: header fields follow a question mark; the address may be percent-encoded. */
function ofMailto(text: string): string {
  const [address = ''] = text.split('?', 1);
  try {
    return trimBlanks(decodeURIComponent(address));
  } catch {
    return address;
  }
}
