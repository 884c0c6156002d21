const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** C0 controls by name (RFC 20 §5.2). Many fonts lack the control pictures (U+2400…). */
const NAMES =
  'NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US';
const CONTROLS: readonly string[] = NAMES.split(' ');

/**
 * Untrusted text with its invisible characters escaped: C0 controls and DEL as `⟨ESC⟩`; other controls, format and
 * bidirectional characters, line separators, lone surrogates and private-use characters as `⟨U+202E⟩`.
 */
export function escapeInvisible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const name = code === 0x7f ? 'DEL' : CONTROLS[code];
    return `⟨${name ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`}⟩`;
  });
}

/** Indented JSON with the same characters as \u escapes, so that it parses to the same value. */
export function escapeInvisibleJson(value: unknown): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, 2).replace(HIDDEN, (character) =>
    character === '\n' ? character : character.split('').map(escaped).join(''),
  );
}
