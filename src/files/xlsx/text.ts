/** Texts of cells. ECMA-376 22.9.2.19: `_x000D_` stands for a character that XML cannot have. */

const ESCAPE = /_x([0-9A-Fa-f]{4})_/g;

export const unescapeText = (text: string): string =>
  text.includes('_x')
    ? text.replaceAll(ESCAPE, (whole, hex: string) =>
        hex === '0000' ? whole : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : text;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** As XML. Lone surrogates, which UTF-8 cannot have, become U+FFFD. */
export function escapeText(text: string): string {
  if (!/[&<>"\p{Cc}\p{Cs}\ufffe\uffff]|_x/u.test(text)) return text;
  return text
    .toWellFormed()
    .replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
    .replaceAll(
      /[\0-\x08\x0b-\x1f\ufffe\uffff]/g,
      (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    );
}
