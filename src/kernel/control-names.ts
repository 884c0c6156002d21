/**
 * Names that cannot be missing, by which a DNS resolver that denies or invents every name is recognized: top-level
 * domains, which are asked for NS records, and mail domains, for MX records. One of them found shows that the resolver
 * knows the Internet; an internal resolver may have a root of its own, so the root is none of them.
 */
export const DNS_CONTROL_NAMES = ['com', 'net', 'org', 'gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com'] as const;
