/** Names that programs use, and the standard does not know. */
const ALIASES: Readonly<Record<string, string>> = {
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  cp950: 'big5',
  macroman: 'macintosh',
  utf8mb4: 'utf-8',
};

/** Its name in the WHATWG's Encoding Standard, in lower case, or `ibm437`, `ibm850`, `ibm852`; null: there is none. */
export function encodingNamed(label: string): string | null {
  const plain = label.trim().toLowerCase();
  const page = /^(?:cp|ibm|dos|oem)?[-_ ]?(437|850|852)$/.exec(plain)?.[1];
  if (page !== undefined) return `ibm${page}`;
  const alias = ALIASES[plain.replaceAll(/[-_ ]/g, '')];
  try {
    return new TextDecoder(alias ?? plain).encoding;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
