/** Which addresses lead to one mailbox. */
import rules from '../../../data/mailbox-rules.json' with { type: 'json' };
import { canonicalEmail } from './canonical.ts';

interface Rule {
  /** All of them lead to the same mailboxes; the first one stands for them. */
  readonly domains: readonly string[];
  /** What follows the first of these in a local part is a tag (RFC 5233). */
  readonly separators: string;
  /** Characters that make no difference. */
  readonly ignored: string;
  /** `tag@name.domain` leads to the mailbox `name@domain`. */
  readonly subdomains?: boolean;
}

const RULES: readonly Rule[] = rules;
const BY_DOMAIN = new Map(RULES.flatMap((rule) => rule.domains.map((domain) => [domain, rule] as const)));
/**
 * Nearly every server that knows tags separates them with a plus; where one does not, nobody has a plus in their name.
 */
const OTHERS: Rule = { domains: [], separators: '+', ignored: '' };

/**
 * The mailbox of an address, as an address: its canonical form (canonical.ts) without tag and without what the provider
 * ignores, at the provider's main domain. It is for comparing, and perhaps not the address that its owner uses. Never
 * throws: a text that is not an address is only put in lower case.
 */
export function mailboxOf(email: string): string {
  const canonical = canonicalEmail(email, { allowReserved: true, allowUnknownTld: true });
  if (!canonical.ok) return email.toLowerCase();
  const address = canonical.value;
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  // Only names that need no quotes can have tags.
  if (at < 1 || local.startsWith('"')) return address;
  const parent = BY_DOMAIN.get(domain.slice(domain.indexOf('.') + 1));
  const [rule, name] =
    parent?.subdomains === true
      ? [parent, domain.slice(0, domain.indexOf('.'))]
      : [BY_DOMAIN.get(domain) ?? OTHERS, local];
  return `${plain(name, rule)}@${rule.domains[0] ?? domain}`;
}

/** A name that would be empty is left as it is. */
function plain(name: string, { separators, ignored }: Rule): string {
  const end = [...name].findIndex((char, i) => i > 0 && separators.includes(char));
  const base = [...name].slice(0, end === -1 ? undefined : end);
  return base.filter((char) => !ignored.includes(char)).join('') || name;
}
