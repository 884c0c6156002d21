const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/**
 * Foreign text as it is, with everything in it that cannot be seen or that would change how the rest is read made
 * visible: C0 controls and DEL as their control pictures (U+2400…), other controls, invisible and direction-changing
 * characters, line separators, halves of surrogate pairs and private-use characters as `⟨U+202E⟩`.
 */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0)!;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return '␡';
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

/** Indented JSON in which the same characters are escaped, so that it is still the same JSON. */
export function visibleJson(value: unknown): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, 2).replace(HIDDEN, (character) =>
    character === '\n' ? character : character.split('').map(escaped).join(''),
  );
}
