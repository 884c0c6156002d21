import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { COMPAT_VENDORS, type CompatVendor } from '../kernel/compat-vendors.ts';
import { DNS_CONTROL_NAMES } from '../kernel/control-names.ts';
import {
  CONNECTIONS_PER_NETWORK,
  DNS_PORT,
  DNS_TIMEOUT_MS,
  DRAIN_SECONDS,
  OUTCOMES_DAYS,
  type Range,
  RELAY_CONNECTIONS,
  RELAY_HEALTH_PORT,
  RELAY_IDLE_SECONDS,
  RELAY_PORT,
  RELAY_TOTAL_SECONDS,
  RETENTION_DAYS,
  SEEN_DAYS,
  SIGNUP_CREDITS,
  SMTP_BREAKER_SECONDS,
  SMTP_CONNECTIONS_PER_HOST,
  SMTP_PORT,
  SMTP_RATE_PER_OPERATOR,
} from '../kernel/facts/limits.ts';
import { ROLES, type Role } from '../kernel/facts/roles.ts';
import { keyModeOf } from '../kernel/ids.ts';
import { canonicalCidr, canonicalIp, canonicalScopedIp, type HostPort, parseHostPort } from '../kernel/ip.ts';

/** Names in the option; each is one query per round. */
const DNS_CONTROL_NAMES_MAX = 16;

type OptionGroup =
  | 'Store'
  | 'Listening'
  | 'Dashboard'
  | 'OpenID Connect'
  | 'DNS'
  | 'Mailbox check'
  | 'Lists'
  | 'Logs and data'
  | 'Operation'
  | 'Relay'
  | 'Client';

/** It describes one option, for the program, `--help`, the docs page and the sample environment file. */
export interface OptionRow<T = unknown> {
  readonly env: string;
  /** Alternative variable names, read if `env` is not set. */
  readonly aliases?: readonly string[];
  readonly group: OptionGroup;
  /** Stands after the flag in `--help`. */
  readonly value: string;
  readonly parse: Parser<T>;
  /** Reads as in the environment; null: no value is fixed, and `defaultText` describes it, or there is none. */
  readonly default: string | null;
  readonly defaultText?: string;
  readonly help: string;
  /** Never echoed; can also be read from the file named by `<env>_FILE`. */
  readonly secret?: true;
  /** The commands that use it; default: all that use a store or the lists. */
  readonly commands?: readonly string[];
}

/** Infers the type of the value and whether it can be null. */
const row = <T, const D extends string | null>(
  fields: Omit<OptionRow<T>, 'default'> & { readonly default: D },
): OptionRow<T> & { readonly default: D } => fields;

const SERVE = ['serve'] as const;
const RELAY = ['relay'] as const;
const SERVE_AND_RELAY = ['serve', 'relay'] as const;
/** `health` asks the service. */
const LISTENING = ['serve', 'user', 'health'] as const;
/** `user` prints links, so it needs the public address. */
const SERVE_AND_USER = ['serve', 'user'] as const;
/** `alerts` sends a test. */
const SERVE_AND_ALERTS = ['serve', 'alerts'] as const;
const CLIENT_COMMANDS = ['lists', 'filters', 'webhooks', 'usage', 'mcp', 'outcomes', 'verify'] as const;
const ENGINE_COMMANDS = ['serve', 'verify', 'doctor', 'mcp'] as const;
const DNS_COMMANDS = [...ENGINE_COMMANDS, 'disposable'] as const;
const DIALING_COMMANDS = [...DNS_COMMANDS, 'relay'] as const;

/** The value, or a description of valid values that completes "give …". */
type ParsedOption<T> = { readonly value: T } | { readonly expected: string };
type Parser<T> = (text: string) => ParsedOption<T>;

const commaSeparated = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** A comma-separated list; the first invalid part fails it. */
const listOf =
  <T>(parse: Parser<T>): Parser<readonly T[]> =>
  (text) => {
    const values: T[] = [];
    for (const part of commaSeparated(text)) {
      const parsed = parse(part);
      if ('expected' in parsed) return { expected: `a comma-separated list, each item ${parsed.expected}` };
      values.push(parsed.value);
    }
    return values.length > 0 ? { value: values } : { expected: 'a comma-separated list with at least one item' };
  };

const oneOfChoices =
  <const T extends string>(...choices: readonly T[]): Parser<T> =>
  (text) => {
    const value = choices.find((choice) => choice === text);
    return value === undefined ? { expected: `one of ${choices.join(', ')}` } : { value };
  };

/** Services whose API is ours as well. */
const compatVendors: Parser<readonly CompatVendor[]> = (text) => listOf(oneOfChoices(...COMPAT_VENDORS))(text);

/** A whole number in decimal digits, both bounds included. */
const integer =
  ({ min, max }: Range): Parser<number> =>
  (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? { value } : { expected: `a whole number from ${min} to ${max}` };
  };

/** A number that may have decimals, both bounds included. */
const decimal =
  ({ min, max }: Range): Parser<number> =>
  (text) => {
    const value = /^\d{1,15}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? { value } : { expected: `a number from ${min} to ${max}` };
  };

const boolean: Parser<boolean> = (text) => {
  if (/^(true|1|yes|on)$/i.test(text)) return { value: true };
  if (/^(false|0|no|off)$/i.test(text)) return { value: false };
  return { expected: 'true or false' };
};

const port: Parser<number> = (text) => {
  const parsed = integer({ min: 0, max: 65535 })(text);
  if ('value' in parsed || !text.startsWith('tcp://')) return parsed;
  // Kubernetes sets such a variable in every pod if there is a Service named "mailvet".
  return { expected: 'a port number (Kubernetes set this value: set enableServiceLinks: false on the pod)' };
};

/** Parses a port to connect to, so not 0. */
const remotePort: Parser<number> = integer({ min: 1, max: 65535 });

/** The canonical value, or what is expected; a zone (`%eth0`) is a frequent reason why there is none. */
const canonicalBy =
  (canonical: (text: string) => string | null, expected: string): Parser<string> =>
  (text) => {
    const value = canonical(text);
    if (value !== null) return { value };
    return {
      expected: text.includes('%') ? `${expected} without a zone (${text.slice(text.indexOf('%'))})` : expected,
    };
  };

const ipAddress: Parser<string> = canonicalBy(canonicalIp, 'an IP address');

/** An IP address to listen on, or a host name that resolves to one. */
const listenHost: Parser<string> = (text) => {
  const value = canonicalScopedIp(text) ?? (isHostName(text) ? text.toLowerCase() : null);
  return value === null ? { expected: 'an IP address or a host name' } : { value };
};

/** Where to listen; port 0 is any free one. */
const listenAddress =
  (defaultPort: number): Parser<HostPort> =>
  (text) => {
    const value = parseHostPort(text, defaultPort, 0);
    return value === null ? { expected: `an IP address and a port, such as 0.0.0.0:${defaultPort}` } : { value };
  };

const listenAddressOrNone =
  (defaultPort: number): Parser<HostPort | null> =>
  (text) => {
    if (text === 'none') return { value: null };
    const parsed = listenAddress(defaultPort)(text);
    return 'value' in parsed ? parsed : { expected: `none, or ${parsed.expected}` };
  };

/** Accepts `192.0.2.0/24`, `2001:db8::/32`, or a single address. */
const cidr: Parser<string> = canonicalBy(canonicalCidr, 'an IP address or a CIDR block');

/** `none`, or names separated by commas; the root is `.`. */
const controlNames: Parser<readonly string[]> = (text) => {
  if (text === 'none') return { value: [] };
  const names = commaSeparated(text).map((name) => name.toLowerCase());
  const valid = names.length > 0 && names.length <= DNS_CONTROL_NAMES_MAX;
  return valid && names.every((name) => name === '.' || (name !== 'none' && isHostName(name)))
    ? { value: names }
    : { expected: `none, or 1 to ${DNS_CONTROL_NAMES_MAX} comma-separated domain names` };
};

const dnsServer: Parser<HostPort> = (text) => {
  const value = parseHostPort(text, DNS_PORT);
  if (value !== null) return { value };
  return { expected: 'an IP address with an optional port (IPv6 with a port in brackets: [::1]:53)' };
};

/** Accepts `sqlite:PATH` or a PostgreSQL address (libpq, "Connection URIs"). */
const databaseUrl: Parser<string> = (text) => {
  if (/^sqlite:./.test(text)) return { value: text };
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return { value: text };
  return { expected: 'sqlite:PATH or postgres://user:password@host/database' };
};

/** An absolute http(s) URL; trailing slashes are removed. */
const webAddress: Parser<string> = (text) => {
  const expected = 'an http:// or https:// URL without query, fragment or password';
  if (!URL.canParse(text)) return { expected };
  const url = new URL(text);
  const plain = url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (!/^https?:$/.test(url.protocol) || !plain) return { expected };
  return { value: url.href.replace(/\/+$/, '') };
};

/** A host that is this one by its name or address. */
const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
/** Exceeds any real one. */
const OIDC_TEXT_MAX = 512;

/** OpenID Connect Core 1.0 §2 (`iss`): https, without query and fragment; compared to the letter, so kept as it is. */
const oidcIssuer: Parser<string> = (text) => {
  const url = URL.parse(text);
  const plain = url !== null && url.username === '' && url.password === '' && !/[?#]/.test(text);
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK_HOST.test(url.hostname));
  if (plain && safe && text.length <= OIDC_TEXT_MAX) return { value: text };
  return { expected: 'the https:// URL that your provider calls its issuer; http:// is for this host alone' };
};

/** Accepts a name or an identifier in printable characters of one line. */
const oneLineText =
  (max: number): Parser<string> =>
  (text) =>
    /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(text) && text.length <= max
      ? { value: text }
      : { expected: `up to ${max} printable characters in one line` };

/** RFC 6749 §3.3; `openid` makes it OpenID Connect (Core 1.0 §3.1.2.1). */
const oidcScopes: Parser<readonly string[]> = (text) => {
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '');
  const valid = scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/.test(scope));
  if (!valid || scopes.length > 32) return { expected: 'scopes separated by spaces, such as openid email profile' };
  return { value: [...new Set(['openid', ...scopes])] };
};

const mailDomain: Parser<string> = (text) =>
  isQualified(text) ? { value: text.toLowerCase() } : { expected: 'a domain such as example.com' };

const accountName: Parser<string> = (text) =>
  /^acc_\w{1,64}$/.test(text)
    ? { value: text }
    : { expected: 'the id of an account (mailvet account list shows them)' };

interface MappedRole {
  readonly value: string;
  readonly role: Role;
}

/** `value=role`; the value may have equals signs, but no comma. */
const mappedRole: Parser<MappedRole> = (text) => {
  const at = text.lastIndexOf('=');
  const [value, named] = [text.slice(0, Math.max(0, at)).trim(), text.slice(at + 1).trim()];
  const role = ROLES.find((one) => one === named);
  if (role !== undefined && value !== '') return { value: { value, role } };
  return { expected: `VALUE=ROLE with a role of ${ROLES.join(', ')}` };
};

const webAddressOrNone: Parser<string | null> = (text) => {
  if (text === 'none') return { value: null };
  const address = webAddress(text);
  return 'value' in address ? address : { expected: `none, or ${address.expected}` };
};

/** What RFC 9116 §2.5.3 allows, of what people use: an email address, a `mailto:` or an `https:` URI. */
const securityContact: Parser<string> = (text) => {
  const address = mailAddress(text.replace(/^mailto:/i, ''));
  if ('value' in address) return { value: `mailto:${address.value}` };
  const page = webAddress(text);
  if ('value' in page && page.value.startsWith('https://')) return page;
  return { expected: 'an email address or an https:// URL' };
};

/** Characters; secrets are generated, not typed. */
const SECRET_MAX = 512;
const BEARER_TOKEN_MIN = 16;
const SECRET_MIN = 32;
const BEARER_TOKEN = new RegExp(`^[A-Za-z0-9._~+/-]{${BEARER_TOKEN_MIN},${SECRET_MAX}}=*$`);
const SECRET_PATTERN = new RegExp(`^[\\x20-\\x7e]{${SECRET_MIN},${SECRET_MAX}}$`);

/** Accepts a token for the Authorization header (RFC 6750 §2.1) that is too long to guess. */
const bearerToken: Parser<string> = (text) =>
  BEARER_TOKEN.test(text)
    ? { value: text }
    : { expected: `${BEARER_TOKEN_MIN} or more characters of A-Z a-z 0-9 . _ ~ + / -` };

/** Why a file could not be read, such as `ENOENT`. */
export const errorCodeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : 'unreadable';

/** Reads the file that an option names. Throws an Error with a message for whoever set it. */
export function readNamedFile(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${option}: cannot read ${path} (${errorCodeOf(error)}); give a file that this user may read.`);
  }
}

/** A file that an option names has at most this many bytes. */
const FILE_MAX = 256 * 1024;

/** The value that is in a file, of which `read` returns null where it is another one. */
const parsedFile =
  <T>(expected: string, read: (text: string) => T | null): Parser<T> =>
  (file) => {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      return { expected: `a file that this user may read (${errorCodeOf(error)})` };
    }
    const value = text.length > FILE_MAX ? null : read(text);
    return value === null ? { expected: `a file with ${expected}` } : { value };
  };

/** Longer than the length of a password (RFC 1929 §2) could say, a token could never be given. */
const SOCKS_PASSWORD_MAX = 255;
const TOKENS_MAX = 16;

const tokensFile: Parser<readonly string[]> = parsedFile(
  `a token in each line, at most ${TOKENS_MAX}, each ${BEARER_TOKEN_MIN} to ${SOCKS_PASSWORD_MAX} characters of A-Z a-z 0-9 . _ ~ + / - (openssl rand -hex 32 makes one)`,
  (text) => {
    const lines = commaSeparated(text.replaceAll(/\r?\n/g, ','));
    const valid = lines.every((line) => 'value' in bearerToken(line) && line.length <= SOCKS_PASSWORD_MAX);
    return valid && lines.length > 0 && lines.length <= TOKENS_MAX ? lines : null;
  },
);

interface CertificateFile {
  /** Includes those that lead to its issuer. */
  readonly pem: string;
  readonly first: X509Certificate;
}

const certificateFile: Parser<CertificateFile> = parsedFile('a certificate in PEM format', (pem) =>
  nullOnThrow(() => ({ pem, first: new X509Certificate(pem) })),
);

interface PrivateKeyFile {
  readonly pem: string;
  readonly key: KeyObject;
}

const privateKeyFile: Parser<PrivateKeyFile> = parsedFile('a private key in PEM format, without a passphrase', (pem) =>
  nullOnThrow(() => ({ pem, key: createPrivateKey(pem) })),
);

/** Null where it throws, as what it reads is not what it should be. */
function nullOnThrow<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

const authSecret: Parser<string> = (text) =>
  SECRET_PATTERN.test(text) ? { value: text } : { expected: `${SECRET_MIN} or more printable ASCII characters` };

/** Accepts `smtp://` or `smtps://` with a host; user and password are percent-encoded (RFC 3986 §3.2.1). */
const mailServer: Parser<string> = (text) => {
  const expected = 'smtp://user:password@host:587 or smtps://user:password@host:465';
  const url = URL.parse(text);
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return { expected };
  const plain = /^\/?$/.test(url.pathname) && url.search === '' && url.hash === '';
  if (!plain || (url.username === '') !== (url.password === '')) return { expected };
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return { expected: `${expected}, with % in user and password written as %25` };
  }
  return { value: text };
};

/** The service with this key keeps nothing, so it need not be a secret. */
const TEST_ONLY_KEY = `mv_test_${'0'.repeat(32)}`;
const testKey: Parser<string> = (text) =>
  keyModeOf(text) === 'test' ? { value: text } : { expected: 'mv_test_ and 32 letters and digits' };

const commandText: Parser<string> = (text) =>
  /^[\x20-\x7e]{1,200}$/.test(text) ? { value: text } : { expected: 'a command in one line of ASCII' };

const path: Parser<string> = (text) => (text.includes('\0') ? { expected: 'a path' } : { value: text });

/** RFC 1123 §2.1: labels of letters, digits and hyphens, 63 octets each, 253 in all. */
export function isHostName(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label));
}

/** A name that a mail server can look up: qualified, no all-digit last label, not localhost (RFC 6761). */
export function isQualified(name: string): boolean {
  const labels = name.toLowerCase().split('.');
  const last = labels.at(-1)!;
  if (!isHostName(name) || labels.length < 2 || /^\d+$/.test(last)) return false;
  return last !== 'localhost' && last !== 'localdomain';
}

export const heloName: Parser<string> = (text) =>
  isHostName(text) ? { value: text.toLowerCase() } : { expected: 'a host name such as mail.example.com' };

/** Null stands for `none`, and means that there is no group. */
const paceGroup: Parser<string | null> = (text) => {
  if (text === 'none') return { value: null };
  return /^[\w.-]{1,64}$/.test(text)
    ? { value: text }
    : { expected: 'up to 64 letters, digits, dots, hyphens and underscores, or none' };
};

/** Reads the reverse-path of MAIL FROM (RFC 5321 §4.1.2); the null reverse-path `<>` becomes the empty string. */
export const sender: Parser<string> = (text) => {
  if (text === '<>') return { value: '' };
  const match = /^([A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64})@(.+)$/.exec(text);
  const local = match?.[1] ?? '.';
  const good = isHostName(match?.[2] ?? '') && !local.startsWith('.') && !local.endsWith('.') && !local.includes('..');
  return good ? { value: `${local}@${match![2]!.toLowerCase()}` } : { expected: 'an ASCII email address or <>' };
};

/** An ASCII address at a host name, which every mail server accepts as a sender. */
const mailAddress: Parser<string> = (text) => {
  const parsed = sender(text);
  return 'value' in parsed && parsed.value !== '' ? parsed : { expected: 'an ASCII email address' };
};

/** The options are in the order of the docs page. */
export const OPTIONS = {
  databaseUrl: row({
    env: 'MAILVET_DATABASE_URL',
    aliases: ['DATABASE_URL'],
    group: 'Store',
    value: 'url',
    parse: databaseUrl,
    default: 'sqlite:./data/mailvet.db',
    help: '`sqlite:PATH` or `postgres://…`.',
    secret: true,
  }),
  plansFile: row({
    env: 'MAILVET_PLANS_FILE',
    group: 'Store',
    value: 'path',
    parse: path,
    default: null,
    help:
      'YAML file with the plans of accounts: requests per window, levels, prices, monthly credits, as docs/plans.md ' +
      'says. Instead of the plans that `mailvet plans` prints without it. The same for all nodes.',
  }),
  host: row({
    env: 'MAILVET_HOST',
    group: 'Listening',
    value: 'address',
    parse: listenHost,
    default: '127.0.0.1',
    help: 'Address to listen on; `0.0.0.0` or `::` for all addresses of the host.',
    commands: LISTENING,
  }),
  port: row({
    env: 'MAILVET_PORT',
    aliases: ['PORT'],
    group: 'Listening',
    value: 'port',
    parse: port,
    default: '8025',
    help: 'Port to listen on; 0 for any free port.',
    commands: LISTENING,
  }),
  publicUrl: row({
    env: 'MAILVET_PUBLIC_URL',
    group: 'Listening',
    value: 'url',
    parse: webAddress,
    default: null,
    defaultText: 'derived from host and port',
    help: 'Public URL of the service.',
    commands: SERVE_AND_USER,
  }),
  compat: row({
    env: 'MAILVET_COMPAT',
    group: 'Listening',
    value: 'services',
    parse: compatVendors,
    default: null,
    help: `Other services whose API is served at the root as well, for clients that take only a host: any of ${COMPAT_VENDORS.map((vendor) => `\`${vendor}\``).join(', ')}, separated by commas. Under \`/compat/\` all of them always are.`,
    commands: SERVE,
  }),
  securityContact: row({
    env: 'MAILVET_SECURITY_CONTACT',
    group: 'Listening',
    value: 'address|url',
    parse: securityContact,
    default: null,
    defaultText: 'none: no `/.well-known/security.txt`',
    help: 'Where to report vulnerabilities of this installation: an email address or an `https:` page (RFC 9116).',
    commands: SERVE,
  }),
  trustedProxies: row({
    env: 'MAILVET_TRUSTED_PROXIES',
    group: 'Listening',
    value: 'cidr,…',
    parse: listOf(cidr),
    default: null,
    help: 'Addresses or CIDR blocks of the proxies whose `X-Forwarded-For` header is trusted; link-local ones without a zone.',
    commands: SERVE,
  }),
  connectionsPerNetwork: row({
    env: 'MAILVET_CONNECTIONS_PER_NETWORK',
    group: 'Listening',
    value: 'number',
    parse: integer(CONNECTIONS_PER_NETWORK),
    default: String(CONNECTIONS_PER_NETWORK.default),
    help: 'How many connections one network (IPv4 address or IPv6 /64; a /56 twice, a /48 four times as many) may have open. Trusted proxies are exempt.',
    commands: SERVE,
  }),
  authSecret: row({
    env: 'MAILVET_AUTH_SECRET',
    group: 'Dashboard',
    value: 'secret',
    parse: authSecret,
    default: null,
    defaultText: 'generated at first use and kept in the store, unencrypted',
    help:
      `Signs dashboard cookies and encrypts the secrets of authenticator apps; at least ${SECRET_MIN} characters. ` +
      'Changing it signs everyone out and invalidates their authenticator apps. If the same secret is in the store, it is ' +
      'deleted there.',
    secret: true,
    commands: SERVE_AND_USER,
  }),
  mailUrl: row({
    env: 'MAILVET_MAIL_URL',
    group: 'Dashboard',
    value: 'url',
    parse: mailServer,
    default: null,
    defaultText: 'none: no mail is sent',
    help:
      'Mail server for messages to dashboard users: `smtp://user:password@host:587` (STARTTLS) or `smtps://…:465`. ' +
      'Passwords are sent only over TLS; certificates are verified. Read again on SIGHUP.',
    secret: true,
    commands: SERVE_AND_ALERTS,
  }),
  mailFrom: row({
    env: 'MAILVET_MAIL_FROM',
    group: 'Dashboard',
    value: 'address',
    parse: mailAddress,
    default: null,
    defaultText: '`mailvet@` plus the host of the public URL',
    help: 'Sender address of those messages.',
    commands: SERVE,
  }),
  signup: row({
    env: 'MAILVET_SIGNUP',
    group: 'Dashboard',
    value: 'mode',
    parse: oneOfChoices('closed', 'open'),
    default: 'closed',
    help:
      '`open`: anyone may sign up. The service verifies the address and mails a confirmation link, so a mail server is ' +
      'required. `closed`: users are invited, or created with `mailvet user create`.',
    commands: SERVE,
  }),
  signupCredits: row({
    env: 'MAILVET_SIGNUP_CREDITS',
    group: 'Dashboard',
    value: 'n',
    parse: integer(SIGNUP_CREDITS),
    default: String(SIGNUP_CREDITS.default),
    help: 'Opening balance of an account created by sign-up.',
    commands: SERVE,
  }),
  oidcIssuer: row({
    env: 'MAILVET_OIDC_ISSUER',
    group: 'OpenID Connect',
    value: 'url',
    parse: oidcIssuer,
    default: null,
    defaultText: 'none: no sign-in with OpenID Connect',
    help: 'Issuer of the OpenID provider that people sign in with ([set-up](oidc.md)), as its discovery document says.',
    commands: SERVE,
  }),
  oidcClientId: row({
    env: 'MAILVET_OIDC_CLIENT_ID',
    group: 'OpenID Connect',
    value: 'id',
    parse: oneLineText(OIDC_TEXT_MAX),
    default: null,
    help: 'What the provider calls this service.',
    commands: SERVE,
  }),
  oidcClientSecret: row({
    env: 'MAILVET_OIDC_CLIENT_SECRET',
    group: 'OpenID Connect',
    value: 'secret',
    parse: oneLineText(OIDC_TEXT_MAX),
    default: null,
    defaultText: 'none: a public client, with PKCE alone',
    help: 'Secret of this service at the provider. Read again on SIGHUP.',
    secret: true,
    commands: SERVE,
  }),
  oidcName: row({
    env: 'MAILVET_OIDC_NAME',
    group: 'OpenID Connect',
    value: 'name',
    parse: oneLineText(40),
    default: 'SSO',
    help: 'The provider on the button of the sign-in page: "Continue with Okta".',
    commands: SERVE,
  }),
  oidcScopes: row({
    env: 'MAILVET_OIDC_SCOPES',
    group: 'OpenID Connect',
    value: 'scopes',
    parse: oidcScopes,
    default: 'openid email profile',
    help: 'Scopes that are asked for, separated by spaces. `openid` is always asked for.',
    commands: SERVE,
  }),
  oidcAllowedDomains: row({
    env: 'MAILVET_OIDC_ALLOWED_DOMAINS',
    group: 'OpenID Connect',
    value: 'domain,…',
    parse: listOf(mailDomain),
    default: null,
    defaultText: 'any',
    help: 'Domains whose addresses may sign in with the provider, which must say that it verified the address. Subdomains are domains of their own.',
    commands: SERVE,
  }),
  oidcAccount: row({
    env: 'MAILVET_OIDC_ACCOUNT',
    group: 'OpenID Connect',
    value: 'account',
    parse: accountName,
    default: null,
    defaultText: 'none: an invitation is needed',
    help: 'Account that people become members of when they first sign in with the provider.',
    commands: SERVE,
  }),
  oidcRole: row({
    env: 'MAILVET_OIDC_ROLE',
    group: 'OpenID Connect',
    value: 'role',
    parse: oneOfChoices(...ROLES),
    default: null,
    defaultText: 'none: only who has a mapped role gets in',
    help: `Their role in that account: ${ROLES.join(', ')}. With a role claim, that of people without a mapped value.`,
    commands: SERVE,
  }),
  oidcRoleClaim: row({
    env: 'MAILVET_OIDC_ROLE_CLAIM',
    group: 'OpenID Connect',
    value: 'claim',
    parse: oneLineText(OIDC_TEXT_MAX),
    default: null,
    help: 'Claim that decides the role in that account at every sign-in: a text or a list of texts, such as `groups`; `realm_access.roles` is one inside another.',
    commands: SERVE,
  }),
  oidcRoleMap: row({
    env: 'MAILVET_OIDC_ROLE_MAP',
    group: 'OpenID Connect',
    value: 'value=role,…',
    parse: listOf(mappedRole),
    default: null,
    help: 'What values of that claim stand for, such as `mailvet-admins=admin,staff=member`. The highest role counts.',
    commands: SERVE,
  }),
  oidcSecondFactor: row({
    env: 'MAILVET_OIDC_SECOND_FACTOR',
    group: 'OpenID Connect',
    value: 'value,…',
    parse: listOf(oneLineText(OIDC_TEXT_MAX)),
    default: null,
    defaultText: 'none: the provider does not count as a second factor',
    help: 'Values of the claims `amr` and `acr` that count as the second factor that an account can require, such as `mfa,hwk`.',
    commands: SERVE,
  }),
  oidcOnly: row({
    env: 'MAILVET_OIDC_ONLY',
    group: 'OpenID Connect',
    value: 'boolean',
    parse: boolean,
    default: 'false',
    help: 'No passwords and passkeys: people sign in with the provider alone. `mailvet user sign-in` prints a link for who is locked out. The service does not start while the provider cannot be reached.',
    commands: SERVE,
  }),
  oidcStartAnyway: row({
    env: 'MAILVET_OIDC_START_ANYWAY',
    group: 'OpenID Connect',
    value: 'boolean',
    parse: boolean,
    default: 'false',
    help: 'Without passwords, starts even while the provider cannot be reached.',
    commands: SERVE,
  }),
  dnsServers: row({
    env: 'MAILVET_DNS_SERVERS',
    group: 'DNS',
    value: 'ip[:port],…',
    parse: listOf(dnsServer),
    default: null,
    defaultText: "the system's",
    help: 'DNS resolvers to use.',
    commands: DNS_COMMANDS,
  }),
  dnsTimeoutMs: row({
    env: 'MAILVET_DNS_TIMEOUT_MS',
    group: 'DNS',
    value: 'ms',
    parse: integer(DNS_TIMEOUT_MS),
    default: String(DNS_TIMEOUT_MS.default),
    help: 'Timeout of one attempt in milliseconds; two attempts per server.',
    commands: DNS_COMMANDS,
  }),
  dnsControlNames: row({
    env: 'MAILVET_DNS_CONTROL_NAMES',
    group: 'DNS',
    value: 'name,…|none',
    parse: controlNames,
    default: DNS_CONTROL_NAMES.join(','),
    help:
      'Names that cannot be missing, queried to recognize a resolver that denies or invents every name: top-level domains ' +
      '(for NS records) and mail domains (for MX records). One that is found suffices. `none`: the resolver is always ' +
      'believed; for laboratories whose resolver knows only its own names.',
    commands: DNS_COMMANDS,
  }),
  smtpPort: row({
    env: 'MAILVET_SMTP_PORT',
    group: 'Mailbox check',
    value: 'port',
    parse: remotePort,
    default: String(SMTP_PORT),
    help: 'Port of the mail servers to connect to.',
    commands: ENGINE_COMMANDS,
  }),
  smtpHelo: row({
    env: 'MAILVET_SMTP_HELO',
    group: 'Mailbox check',
    value: 'name',
    parse: heloName,
    default: null,
    defaultText: "the host's fully qualified name",
    help:
      'Name for EHLO; it should resolve to the address that mail servers see. `localhost` and unqualified names are ' +
      "rejected at start, unless private networks are allowed. If the option is not set and the host's own name is " +
      'unqualified, the service starts without a name: `mx` works, but the mailbox check is unavailable.',
    commands: ENGINE_COMMANDS,
  }),
  smtpFrom: row({
    env: 'MAILVET_SMTP_FROM',
    group: 'Mailbox check',
    value: 'address',
    parse: sender,
    default: null,
    defaultText: '`verify@` plus the HELO name',
    help: 'Sender address for MAIL FROM; `<>` is allowed. Replaced by `<>` for recipients at the same domain.',
    commands: ENGINE_COMMANDS,
  }),
  smtpBind: row({
    env: 'MAILVET_SMTP_BIND',
    group: 'Mailbox check',
    value: 'ip,…',
    parse: listOf(ipAddress),
    default: null,
    help: 'Local addresses to connect from. Each domain is always asked about from the same one.',
    commands: ENGINE_COMMANDS,
  }),
  smtpEgressFile: row({
    env: 'MAILVET_SMTP_EGRESS_FILE',
    group: 'Mailbox check',
    value: 'path',
    parse: path,
    default: null,
    help:
      'YAML file with several egresses, each with a name, HELO name, sender, and local address or SOCKS server, ' +
      'as docs/egress.md says. Instead of the three options above. Read again on SIGHUP.',
    commands: ENGINE_COMMANDS,
  }),
  smtpConnectionsPerHost: row({
    env: 'MAILVET_SMTP_CONNECTIONS_PER_HOST',
    group: 'Mailbox check',
    value: 'n',
    parse: integer(SMTP_CONNECTIONS_PER_HOST),
    default: String(SMTP_CONNECTIONS_PER_HOST.default),
    help: 'Concurrent connections to one mail host, by name and by address.',
    commands: ENGINE_COMMANDS,
  }),
  smtpRatePerOperator: row({
    env: 'MAILVET_SMTP_RATE_PER_OPERATOR',
    group: 'Mailbox check',
    value: 'n',
    parse: decimal(SMTP_RATE_PER_OPERATOR),
    default: String(SMTP_RATE_PER_OPERATOR.default),
    help: 'New connections per second to the hosts of one operator, and to one address; 0 = unlimited.',
    commands: ENGINE_COMMANDS,
  }),
  smtpPaceGroup: row({
    env: 'MAILVET_SMTP_PACE_GROUP',
    group: 'Mailbox check',
    value: 'name|none',
    parse: paceGroup,
    default: 'default',
    help:
      'On PostgreSQL: nodes of one group share the limits above, which are those of an egress address. Give nodes that ' +
      'connect from another public address another name. `none`: the node has the limits for itself.',
    commands: ['serve'],
  }),
  smtpBreakerSeconds: row({
    env: 'MAILVET_SMTP_BREAKER_SECONDS',
    group: 'Mailbox check',
    value: 's',
    parse: integer(SMTP_BREAKER_SECONDS),
    default: String(SMTP_BREAKER_SECONDS.default),
    help: 'How long to leave an operator alone that rejected our IP, in seconds; 0 = the breaker is off.',
    commands: ENGINE_COMMANDS,
  }),
  allowPrivateNetworks: row({
    env: 'MAILVET_ALLOW_PRIVATE_NETWORKS',
    group: 'Mailbox check',
    value: 'true|false',
    parse: boolean,
    default: 'false',
    help:
      'Allows mail hosts with loopback, private or other special addresses. For laboratories only; logs a warning at ' +
      'start.',
    commands: DIALING_COMMANDS,
  }),
  listsDir: row({
    env: 'MAILVET_LISTS_DIR',
    group: 'Lists',
    value: 'path',
    parse: path,
    default: null,
    defaultText: '`lists/` next to the SQLite file, otherwise `./data/lists`',
    help: 'Where `disposable update` stores downloaded lists; a running service picks them up without a restart.',
  }),
  listsDisposableUrl: row({
    env: 'MAILVET_LISTS_DISPOSABLE_URL',
    group: 'Lists',
    value: 'url',
    parse: webAddress,
    default:
      'https://raw.githubusercontent.com/disposable-email-domains/disposable-email-domains/main/disposable_email_blocklist.conf',
    help: 'Where `disposable update` downloads the curated list of disposable domains.',
    commands: ['serve', 'disposable', 'doctor'],
  }),
  listsFakefilterUrl: row({
    env: 'MAILVET_LISTS_FAKEFILTER_URL',
    group: 'Lists',
    value: 'url',
    parse: webAddress,
    default: 'https://raw.githubusercontent.com/7c/fakefilter/main/txt/data.txt',
    help: 'Where `disposable update` downloads the crawled list of disposable domains.',
    commands: ['serve', 'disposable'],
  }),
  listsMailcheckerUrl: row({
    env: 'MAILVET_LISTS_MAILCHECKER_URL',
    group: 'Lists',
    value: 'url|none',
    parse: webAddressOrNone,
    default: 'https://raw.githubusercontent.com/FGRibreau/mailchecker/master/list.txt',
    help: 'Where `disposable update` downloads a list that counts where another one confirms it. `none`: it stays as it is.',
    commands: ['serve', 'disposable'],
  }),
  listsTompecUrl: row({
    env: 'MAILVET_LISTS_TOMPEC_URL',
    group: 'Lists',
    value: 'url|none',
    parse: webAddressOrNone,
    default: 'https://raw.githubusercontent.com/tompec/disposable-email-domains/main/index.json',
    help: 'Where `disposable update` downloads a list (a JSON array) that confirms others. `none`: it stays as it is.',
    commands: ['serve', 'disposable'],
  }),
  listsIvoloUrl: row({
    env: 'MAILVET_LISTS_IVOLO_URL',
    group: 'Lists',
    value: 'url|none',
    parse: webAddressOrNone,
    default: 'https://raw.githubusercontent.com/ivolo/disposable-email-domains/master/index.json',
    help: 'Where `disposable update` downloads a list (a JSON array) that confirms others. `none`: it stays as it is.',
    commands: ['serve', 'disposable'],
  }),
  listsLearnHosts: row({
    env: 'MAILVET_LISTS_LEARN_HOSTS',
    group: 'Lists',
    value: 'true|false',
    parse: boolean,
    default: 'true',
    help:
      'Whether a background job looks up the mail hosts of listed domains, 10 domains per second every three days, and ' +
      'domains on hosts that serve only listed ones are disposable.',
    commands: ['serve', 'verify', 'disposable'],
  }),
  listsUpdate: row({
    env: 'MAILVET_LISTS_UPDATE',
    group: 'Lists',
    value: 'when',
    parse: oneOfChoices('daily', 'off'),
    default: 'daily',
    help: '`daily`: a background job downloads the lists every day, for all nodes. `off`: only `disposable update` does.',
    commands: SERVE,
  }),
  logLevel: row({
    env: 'MAILVET_LOG_LEVEL',
    group: 'Logs and data',
    value: 'level',
    parse: oneOfChoices('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    help: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. The service reads it again on SIGHUP.',
    commands: SERVE_AND_RELAY,
  }),
  logAddresses: row({
    env: 'MAILVET_LOG_ADDRESSES',
    group: 'Logs and data',
    value: 'format',
    parse: oneOfChoices('hash', 'domain', 'full'),
    default: 'hash',
    help: 'How email addresses appear in the log: `hash`, `domain` or `full`.',
    commands: SERVE,
  }),
  logClientIp: row({
    env: 'MAILVET_LOG_CLIENT_IP',
    group: 'Logs and data',
    value: 'true|false',
    parse: boolean,
    default: 'true',
    help: 'Whether the log line of a request has the IP address of its client.',
    commands: SERVE_AND_RELAY,
  }),
  retentionDays: row({
    env: 'MAILVET_RETENTION_DAYS',
    group: 'Logs and data',
    value: 'days',
    parse: integer(RETENTION_DAYS),
    default: String(RETENTION_DAYS.default),
    help: 'How many days verifications are kept. Usage counters are not affected.',
    commands: SERVE,
  }),
  storeAddresses: row({
    env: 'MAILVET_STORE_ADDRESSES',
    group: 'Logs and data',
    value: 'format',
    parse: oneOfChoices('full', 'hash'),
    default: 'full',
    help:
      '`hash`: verifications are kept without their addresses, and found by whole addresses only; lists keep theirs ' +
      'until they expire. What was recorded before stays as it is.',
    commands: SERVE,
  }),
  seenDays: row({
    env: 'MAILVET_SEEN_DAYS',
    group: 'Logs and data',
    value: 'days',
    parse: integer(SEEN_DAYS),
    default: String(SEEN_DAYS.default),
    help: 'How many days after it was last seen a mailbox is remembered in a `scope`; 0 forgets all, and refuses requests with a `scope`.',
    commands: SERVE,
  }),
  outcomesDays: row({
    env: 'MAILVET_OUTCOMES_DAYS',
    group: 'Logs and data',
    value: 'days',
    parse: integer(OUTCOMES_DAYS),
    default: String(OUTCOMES_DAYS.default),
    help: 'How many days outcomes of sent mail are kept.',
    commands: SERVE,
  }),
  role: row({
    env: 'MAILVET_ROLE',
    group: 'Operation',
    value: 'role',
    parse: oneOfChoices('all', 'api', 'worker'),
    default: 'all',
    help: 'What this process runs: `all`, `api` (requests) or `worker` (background jobs).',
    commands: SERVE,
  }),
  command: row({
    env: 'MAILVET_COMMAND',
    group: 'Operation',
    value: 'text',
    parse: commandText,
    default: null,
    defaultText: 'how this one was started',
    help: 'How commands of this installation are called, for the hints of the service: `docker compose exec mailvet mailvet`.',
    commands: SERVE,
  }),
  testOnly: row({
    env: 'MAILVET_TEST_ONLY',
    group: 'Operation',
    value: 'true|false',
    parse: boolean,
    default: 'false',
    help:
      'For tests of programs that use Mailvet: test keys alone work, the store is in memory, whatever ' +
      'the URL of the database says, and nothing is looked up or downloaded.',
    commands: SERVE,
  }),
  testKeys: row({
    env: 'MAILVET_TEST_KEYS',
    group: 'Operation',
    value: 'key,…',
    parse: listOf(testKey),
    default: TEST_ONLY_KEY,
    help: 'The test keys that `--test-only` has.',
    commands: SERVE,
  }),
  drainSeconds: row({
    env: 'MAILVET_DRAIN_SECONDS',
    group: 'Operation',
    value: 's',
    parse: integer(DRAIN_SECONDS),
    default: String(DRAIN_SECONDS.default),
    help:
      'How long the service still accepts requests after SIGTERM, while `/readyz` already returns 503; longer than the ' +
      'load balancer takes to notice. 0 = it stops immediately.',
    commands: SERVE,
  }),
  metricsToken: row({
    env: 'MAILVET_METRICS_TOKEN',
    group: 'Operation',
    value: 'token',
    parse: bearerToken,
    default: null,
    defaultText: 'none: no `/metrics` on the main port',
    help: `Enables \`/metrics\` for requests with this token as \`Authorization: Bearer\`; at least ${BEARER_TOKEN_MIN} characters. Read again on SIGHUP.`,
    secret: true,
    commands: SERVE,
  }),
  metricsPort: row({
    env: 'MAILVET_METRICS_PORT',
    group: 'Operation',
    value: 'port',
    parse: port,
    default: null,
    help: 'Serves `/metrics` without a token on a separate port of the same host.',
    commands: SERVE,
  }),
  relayListen: row({
    env: 'MAILVET_RELAY_LISTEN',
    group: 'Relay',
    value: 'ip:port',
    parse: listenAddress(RELAY_PORT),
    default: `0.0.0.0:${RELAY_PORT}`,
    help: 'Where the relay listens; port 0 for any free port.',
    commands: RELAY,
  }),
  relayTokenFile: row({
    env: 'MAILVET_RELAY_TOKEN_FILE',
    group: 'Relay',
    value: 'path',
    parse: tokensFile,
    default: null,
    defaultText: 'none: required',
    help: `File with the token that clients give as their password; one in each line, at most ${TOKENS_MAX}, while you replace it. Read again on SIGHUP.`,
    commands: RELAY,
  }),
  relayTlsCert: row({
    env: 'MAILVET_RELAY_TLS_CERT',
    group: 'Relay',
    value: 'path',
    parse: certificateFile,
    default: null,
    defaultText: 'none: required, unless `--insecure` is given',
    help: 'Certificate in PEM format, followed by those that lead to its issuer. Read again on SIGHUP.',
    commands: RELAY,
  }),
  relayTlsKey: row({
    env: 'MAILVET_RELAY_TLS_KEY',
    group: 'Relay',
    value: 'path',
    parse: privateKeyFile,
    default: null,
    defaultText: 'none: required, unless `--insecure` is given',
    help: 'Private key of the certificate, in PEM format. Read again on SIGHUP.',
    commands: RELAY,
  }),
  relayInsecure: row({
    env: 'MAILVET_RELAY_INSECURE',
    group: 'Relay',
    value: 'true|false',
    parse: boolean,
    default: 'false',
    help: 'No TLS, so that everybody on the way can read the token. Only where the relay listens on a loopback address or one of a private network.',
    commands: RELAY,
  }),
  relayPorts: row({
    env: 'MAILVET_RELAY_PORTS',
    group: 'Relay',
    value: 'port,…',
    parse: listOf(remotePort),
    default: String(SMTP_PORT),
    help: 'Ports that clients may connect to.',
    commands: RELAY,
  }),
  relayBind: row({
    env: 'MAILVET_RELAY_BIND',
    group: 'Relay',
    value: 'ip,…',
    parse: listOf(ipAddress),
    default: null,
    defaultText: "the system's choice",
    help: 'Local address to connect from: one of IPv4, one of IPv6, or both. With only one, destinations of the other family are refused.',
    commands: RELAY,
  }),
  relayMaxConnections: row({
    env: 'MAILVET_RELAY_MAX_CONNECTIONS',
    group: 'Relay',
    value: 'n',
    parse: integer(RELAY_CONNECTIONS),
    default: String(RELAY_CONNECTIONS.default),
    help: 'Connections to mail servers at once; and as many of clients that have not signed in.',
    commands: RELAY,
  }),
  relayIdleSeconds: row({
    env: 'MAILVET_RELAY_IDLE_SECONDS',
    group: 'Relay',
    value: 's',
    parse: integer(RELAY_IDLE_SECONDS),
    default: String(RELAY_IDLE_SECONDS.default),
    help: 'A connection on which nothing was sent for so long is closed.',
    commands: RELAY,
  }),
  relayTotalSeconds: row({
    env: 'MAILVET_RELAY_TOTAL_SECONDS',
    group: 'Relay',
    value: 's',
    parse: integer(RELAY_TOTAL_SECONDS),
    default: String(RELAY_TOTAL_SECONDS.default),
    help: 'Every connection is closed after so long.',
    commands: RELAY,
  }),
  relayHealthListen: row({
    env: 'MAILVET_RELAY_HEALTH_LISTEN',
    group: 'Relay',
    value: 'ip:port|none',
    parse: listenAddressOrNone(RELAY_HEALTH_PORT),
    default: `127.0.0.1:${RELAY_HEALTH_PORT}`,
    help: 'Where `/healthz` and `/metrics` are served, without a token; port 0 for any free port.',
    commands: RELAY,
  }),
  url: row({
    env: 'MAILVET_URL',
    group: 'Client',
    value: 'url',
    parse: webAddress,
    default: 'http://127.0.0.1:8025',
    help: 'The service that `mailvet lists`, `filters`, `webhooks`, `usage`, `outcomes`, `mcp` and `verify --policy` call.',
    commands: CLIENT_COMMANDS,
  }),
  key: row({
    env: 'MAILVET_KEY',
    group: 'Client',
    value: 'key',
    parse: bearerToken,
    default: null,
    help: 'The API key that `mailvet lists`, `filters`, `webhooks`, `usage`, `outcomes`, `mcp` and `verify --policy` use.',
    secret: true,
    commands: CLIENT_COMMANDS,
  }),
} as const;

export type OptionKey = keyof typeof OPTIONS;
type OptionTable = typeof OPTIONS;
type OptionValue<K extends OptionKey> = OptionTable[K] extends OptionRow<infer T> ? T : never;
/** The values read; null if not set and without a fixed default. */
export type Settings = {
  [K in OptionKey]: OptionTable[K]['default'] extends null ? OptionValue<K> | null : OptionValue<K>;
};

/** Environment variable = flag: `MAILVET_DNS_SERVERS` = `--dns-servers`. Those of the relay are without its name. */
export const flagOf = (option: Pick<OptionRow, 'env'>): string =>
  `--${option.env
    .replace(/^MAILVET_(RELAY_)?/, '')
    .toLowerCase()
    .replaceAll('_', '-')}`;

/** Commands that use neither a store nor the lists of this host. */
const WITHOUT_STORE = [
  'relay',
  'health',
  'reply',
  'version',
  'completion',
  'lists',
  'filters',
  'webhooks',
  'usage',
  'outcomes',
];

/** The rows that apply to `command` (`*`: all), in the order of the table. */
export const optionsOf = (command: string): readonly (readonly [OptionKey, OptionRow])[] =>
  (Object.entries(OPTIONS) as [OptionKey, OptionRow][]).filter(
    ([, { commands }]) => command === '*' || (commands?.includes(command) ?? !WITHOUT_STORE.includes(command)),
  );
