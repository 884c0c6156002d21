/** Below this length, dots in a local part are more probably initials than a spelling of a function's name. */
const MIN_JOINED = 6;

/**
 * Is a local part the name of a function (`role`), one that some lists take for one (`perhaps`), or neither? The tag
 * behind the first `+` is cut off, case is folded; `customer.service` and `no_reply` are read without their separators;
 * `<list>-request` is a mailing list's clerk (RFC 2142 §6).
 */
export function createRoles(names: { readonly role: readonly string[]; readonly perhaps: readonly string[] }) {
  const roles = new Set(names.role);
  const perhaps = new Set(names.perhaps);
  return (localPart: string): 'role' | 'perhaps' | 'none' => {
    const plus = localPart.indexOf('+', 1);
    const name = (plus === -1 ? localPart : localPart.slice(0, plus)).toLowerCase();
    if (roles.has(name)) return 'role';
    if (name.endsWith('-request') && name.length > 8) return 'role';
    const joined = name.replace(/[._-]/g, '');
    if (joined.length !== name.length && joined.length >= MIN_JOINED && roles.has(joined)) return 'role';
    return perhaps.has(name) ? 'perhaps' : 'none';
  };
}
