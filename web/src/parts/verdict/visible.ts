const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** C0 controls by their names (RFC 20 §5.2). Their pictures (U+2400…) are missing in many fonts. */
const NAMES =
  'NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US';
const CONTROLS: readonly string[] = NAMES.split(' ');

/**
 * Foreign text as it is, with everything in it that cannot be seen or that would change how the rest is read made
 * visible: C0 controls and DEL as `⟨ESC⟩`; other controls, invisible and direction-changing characters, line
 * separators, halves of surrogate pairs and private-use characters as `⟨U+202E⟩`.
 */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0)!;
    const name = code === 0x7f ? 'DEL' : CONTROLS[code];
    return `⟨${name ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`}⟩`;
  });
}

/** Indented JSON in which the same characters are escaped, so that it is still the same JSON. */
export function visibleJson(value: unknown): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, 2).replace(HIDDEN, (character) =>
    character === '\n' ? character : character.split('').map(escaped).join(''),
  );
}
