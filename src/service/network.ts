/** The network that a rate limit counts: the /64 of a canonical IPv6 address, which one subscriber gets, or the IPv4 address. */
export const networkOf = (ip: string): string => (ip.includes(':') ? prefix64(ip) : ip);

/** The first four groups of a canonical (shortened) IPv6 address. */
function prefix64(ip: string): string {
  const [head = '', tail] = ip.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':');
    while (groups.length + rest.length < 8) groups.push('0');
    groups.push(...rest);
  }
  return groups.slice(0, 4).join(':');
}
