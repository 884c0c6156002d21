/** Names of functions, and how people write them: with separators, numbers, accents, a country or a department. */

/** Below this length, dots in a local part are more likely to separate initials than words of a role name. */
const MIN_JOINED = 6;
/** More parts are no name of a function. */
const MAX_PARTS = 5;

/** What says where or for whom, beside a role: `sales_dept`, `support-team`, `info.emea`. */
const QUALIFIERS: ReadonlySet<string> = new Set([
  ...['dept', 'department', 'team', 'desk', 'office', 'group', 'unit', 'center', 'centre', 'line', 'mail', 'email'],
  ...['mailbox', 'inbox', 'online', 'web', 'global', 'international', 'intl', 'emea', 'apac', 'latam', 'uk', 'usa'],
  ...['north', 'south', 'east', 'west', 'abteilung', 'service', 'servizio', 'servicio', 'dienst', 'otdel', 'отдел'],
]);

/**
 * Whether a local part is a role name (`role`), one that only some lists contain (`perhaps`), or neither. The tag after
 * the first `+`, quotes, accents and a number at the end are removed and case is folded; `customer.service` and
 * `no_reply` match without their separators, `info.de` and `sales_dept` by a part of them; `<list>-request` is a mailing
 * list's administrative address (RFC 2142 §6). `countries`: top-level domains of two letters.
 */
export function createRoles(
  names: { readonly role: readonly string[]; readonly perhaps: readonly string[] },
  countries: ReadonlySet<string>,
) {
  const roles = new Set(names.role.flatMap(spellingsOf));
  const perhaps = new Set(names.perhaps);
  const isQualifier = (part: string): boolean => QUALIFIERS.has(part) || countries.has(part) || /^\d+$/.test(part);

  /** Whether one run of parts is a role, and all others are roles or say where. */
  function isComposed(parts: readonly string[]): boolean {
    if (parts.length < 2 || parts.length > MAX_PARTS) return false;
    for (let from = 0; from < parts.length; from += 1)
      for (let to = from + 1; to <= parts.length; to += 1) {
        const others = [...parts.slice(0, from), ...parts.slice(to)];
        if (roles.has(parts.slice(from, to).join('')) && others.every((part) => roles.has(part) || isQualifier(part)))
          return true;
      }
    return false;
  }

  return (localPart: string): 'role' | 'perhaps' | 'none' => {
    const plus = localPart.indexOf('+', 1);
    const name = bare(plus === -1 ? localPart : localPart.slice(0, plus));
    if (roles.has(name)) return 'role';
    if (name.endsWith('-request') && name.length > 8) return 'role';
    const joined = withoutSeparators(name);
    if (joined.length !== name.length && joined.length >= MIN_JOINED && roles.has(joined)) return 'role';
    const stem = withoutNumber(name);
    if (stem !== name && (roles.has(stem) || roles.has(withoutSeparators(stem)))) return 'role';
    if (joined.length !== name.length && isComposed(stem.split(/[._-]/))) return 'role';
    return perhaps.has(name) ? 'perhaps' : 'none';
  };
}

/** `büro` is written `buro` and `buero` as well. */
function spellingsOf(name: string): string[] {
  if (isAscii(name)) return [name];
  const german = name.replaceAll(/[äöü]/g, (letter) => `${withoutAccents(letter)}e`).replaceAll('ß', 'ss');
  return [...new Set([name.normalize('NFC'), withoutAccents(name), withoutAccents(german)])];
}

const withoutAccents = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .normalize('NFC');

/** In lower case, without quotes and accents. */
function bare(localPart: string): string {
  const isQuoted = localPart.startsWith('"') && localPart.endsWith('"') && localPart.length > 2;
  const text = (isQuoted ? localPart.slice(1, -1) : localPart).toLowerCase();
  return isAscii(text) ? text : withoutAccents(text);
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

function withoutNumber(name: string): string {
  let end = name.length;
  while (end > 0 && isDigit(name.charCodeAt(end - 1))) end -= 1;
  if (end === name.length) return name;
  while (end > 0 && isSeparator(name.charCodeAt(end - 1))) end -= 1;
  return name.slice(0, end);
}

/** Faster than a regular expression, on the path of every verification. */
function withoutSeparators(name: string): string {
  let joined = '';
  let from = 0;
  for (let at = 0; at < name.length; at++) {
    if (!isSeparator(name.charCodeAt(at))) continue;
    joined += name.slice(from, at);
    from = at + 1;
  }
  return from === 0 ? name : joined + name.slice(from);
}
const isSeparator = (code: number): boolean => code === 0x2e || code === 0x5f || code === 0x2d;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
