/** Which addresses lead to one mailbox is decided here. */
import freeFamilies from '../../../data/free-families.json' with { type: 'json' };
import rules from '../../../data/mailbox-rules.json' with { type: 'json' };
import { type Address, canonicalAddress, canonicalEmail } from './parse.ts';

interface MailboxRule {
  /** What `canonical_rule` calls it. */
  readonly name: string;
  /** All of them lead to the same mailboxes; the first one stands for them. */
  readonly domains?: readonly string[];
  /** Each has mailboxes of its own. */
  readonly each?: readonly string[];
  /** Names of families of free-families.json, whose domains have mailboxes of their own. */
  readonly families?: readonly string[];
  /** Providers of mail hosts (mx-providers.json) whose customers' own domains follow it; only tags are cut there. */
  readonly hosts?: readonly string[];
  /** What follows the first of these in a local part is a tag (RFC 5233). */
  readonly separators: string;
  /** Characters that make no difference. */
  readonly ignored: string;
  /**
   * Whatever is before `@name.domain` leads to one mailbox: `name`: to `name@domain`; `apart`: to one that has
   * nothing to do with `name@domain`, which may be another person's.
   */
  readonly subdomains?: string;
}

/** An address for comparing: those of one mailbox have the same. */
interface Mailbox {
  readonly address: string;
  /** Name of the rule that changed it, `tag` for a tag at a provider without one; null: its canonical form as it is. */
  readonly rule: string | null;
}

/**
 * Nearly every server that knows tags separates them with a plus; where one does not, nobody has a plus in their name.
 */
const OTHER_DOMAINS: MailboxRule = { name: 'tag', separators: '+', ignored: '' };

const MAILBOX_RULES: readonly MailboxRule[] = rules;
/** The rule of a domain, and the domain that stands for it. */
const BY_DOMAIN: ReadonlyMap<string, readonly [MailboxRule, string]> = new Map(
  MAILBOX_RULES.flatMap((rule) => [
    ...(rule.domains ?? []).map((domain) => [domain, [rule, rule.domains?.[0] ?? domain]] as const),
    ...[...(rule.each ?? []), ...(rule.families ?? []).flatMap(domainsOf)].map((one) => [one, [rule, one]] as const),
  ]),
);
const BY_HOST: ReadonlyMap<string, MailboxRule> = new Map(
  MAILBOX_RULES.flatMap((rule) => (rule.hosts ?? []).map((host) => [host, { ...rule, ignored: '' }] as const)),
);

function domainsOf(name: string): string[] {
  const of = freeFamilies.families.filter(({ names }) => names.includes(name));
  return of.flatMap(({ suffixes }) => suffixes.split(' ').map((suffix) => `${name}.${suffix}`));
}

/**
 * The mailbox of an address: its canonical form (`canonicalAddress`) without tag and without what the provider ignores,
 * at the provider's main domain. It is for comparing, and perhaps not the address that its owner uses. `host`: the
 * provider of the domain's mail hosts; null: unknown.
 */
export function mailboxAt(address: Address, host: string | null = null): Mailbox {
  return mailboxOfCanonical(canonicalAddress(address), host);
}

/** The same for a text, without knowledge of mail hosts. Never throws: one that is no address is put in lower case. */
export function mailboxOf(email: string): string {
  const canonical = canonicalEmail(email, { allowReserved: true, allowUnknownTld: true });
  return canonical.ok ? mailboxOfCanonical(canonical.value, null).address : email.toLowerCase();
}

/**
 * The mailbox of a text at a domain for which a provider has documented which spellings lead to it; null: there is no
 * such rule, or the text is no address. Providers that only mail hosts tell do not count. `domain`: of the text, in
 * lower-case ASCII.
 */
export function documentedMailbox(email: string, domain: string): string | null {
  if (!BY_DOMAIN.has(domain) && BY_DOMAIN.get(parentDomain(domain))?.[0].subdomains === undefined) return null;
  const canonical = canonicalEmail(email, { allowReserved: true, allowUnknownTld: true });
  return canonical.ok ? mailboxOfCanonical(canonical.value, null).address : null;
}

/** Returns domains in lower case: whatever address in ASCII leads to the mailbox has one of them in it. */
export function mailboxDomains(mailbox: string): readonly string[] {
  const domain = mailbox.slice(mailbox.lastIndexOf('@') + 1);
  const all = BY_DOMAIN.get(domain)?.[0].domains ?? [];
  return all.includes(domain) ? all : [domain];
}

const parentDomain = (domain: string): string => domain.slice(domain.indexOf('.') + 1);

function mailboxOfCanonical(address: string, host: string | null): Mailbox {
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  // Only names that need no quotes can have tags.
  if (at < 1 || local.startsWith('"')) return { address, rule: null };
  const [rule, name, main] = ruleFor(local, domain, host);
  const base = canonicalLocalPart(name, rule);
  return base === local && main === domain ? { address, rule: null } : { address: `${base}@${main}`, rule: rule.name };
}

function ruleFor(local: string, domain: string, host: string | null): readonly [MailboxRule, string, string] {
  const parent = BY_DOMAIN.get(parentDomain(domain));
  if (parent?.[0].subdomains !== undefined) {
    const name = domain.slice(0, domain.indexOf('.'));
    return [parent[0], name, parent[0].subdomains === 'name' ? parent[1] : domain];
  }
  const own = BY_DOMAIN.get(domain);
  if (own !== undefined) return [own[0], local, own[1]];
  return [(host === null ? null : BY_HOST.get(host)) ?? OTHER_DOMAINS, local, domain];
}

/** A name that would be empty is left as it is. All separators and ignored characters are ASCII. */
function canonicalLocalPart(name: string, { separators, ignored }: MailboxRule): string {
  let end = 1;
  while (end < name.length && !separators.includes(name.charAt(end))) end += 1;
  const base = name.slice(0, end);
  if (ignored === '') return base;
  return [...base].filter((char) => !ignored.includes(char)).join('') || name;
}
