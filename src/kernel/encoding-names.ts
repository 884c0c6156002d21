/** Its name in the WHATWG's Encoding Standard, in lower case; null: there is none of this name. */
export function encodingNamed(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}
