import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { COMPAT_VENDORS, type CompatVendor } from '../kernel/compat-vendors.ts';
import { DNS_CONTROL_NAMES_MAX } from '../kernel/control-names.ts';
import { DNS_PORT, type Range } from '../kernel/facts/limits.ts';
import { canonicalCidr, canonicalIp, canonicalScopedIp, type HostPort, parseHostPort } from '../kernel/ip.ts';

/** The value, or a description of valid values that completes "give …". */
type Parsed<T> = { readonly value: T } | { readonly expected: string };
export type Parser<T> = (text: string) => Parsed<T>;

const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** A comma-separated list; the first invalid part fails it. */
export const listOf =
  <T>(parse: Parser<T>): Parser<readonly T[]> =>
  (text) => {
    const values: T[] = [];
    for (const part of list(text)) {
      const parsed = parse(part);
      if ('expected' in parsed) return { expected: `a comma-separated list, each item ${parsed.expected}` };
      values.push(parsed.value);
    }
    return values.length > 0 ? { value: values } : { expected: 'a comma-separated list with at least one item' };
  };

export const oneOf =
  <const T extends string>(...choices: readonly T[]): Parser<T> =>
  (text) => {
    const value = choices.find((choice) => choice === text);
    return value === undefined ? { expected: `one of ${choices.join(', ')}` } : { value };
  };

/** Services whose API is ours as well. */
export const compatVendors: Parser<readonly CompatVendor[]> = (text) => listOf(oneOf(...COMPAT_VENDORS))(text);

/** A whole number in decimal digits, both bounds included. */
export const integer =
  ({ min, max }: Range): Parser<number> =>
  (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? { value } : { expected: `a whole number from ${min} to ${max}` };
  };

/** A number that may have decimals, both bounds included. */
export const decimal =
  ({ min, max }: Range): Parser<number> =>
  (text) => {
    const value = /^\d{1,15}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? { value } : { expected: `a number from ${min} to ${max}` };
  };

export const boolean: Parser<boolean> = (text) => {
  if (/^(true|1|yes|on)$/i.test(text)) return { value: true };
  if (/^(false|0|no|off)$/i.test(text)) return { value: false };
  return { expected: 'true or false' };
};

export const port: Parser<number> = (text) => {
  const parsed = integer({ min: 0, max: 65535 })(text);
  if ('value' in parsed || !text.startsWith('tcp://')) return parsed;
  // Kubernetes sets such a variable in every pod if there is a Service named "mailvet".
  return { expected: 'a port number (Kubernetes set this value: set enableServiceLinks: false on the pod)' };
};

/** A port to connect to, so not 0. */
export const remotePort: Parser<number> = integer({ min: 1, max: 65535 });

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

export const ipAddress: Parser<string> = canonicalBy(canonicalIp, 'an IP address');

/** An IP address to listen on, or a host name that resolves to one. */
export const listenHost: Parser<string> = (text) => {
  const value = canonicalScopedIp(text) ?? (isHostName(text) ? text.toLowerCase() : null);
  return value === null ? { expected: 'an IP address or a host name' } : { value };
};

/** Where to listen; port 0 is any free one. */
export const listenAddress =
  (defaultPort: number): Parser<HostPort> =>
  (text) => {
    const value = parseHostPort(text, defaultPort, 0);
    return value === null ? { expected: `an IP address and a port, such as 0.0.0.0:${defaultPort}` } : { value };
  };

export const listenAddressOrNone =
  (defaultPort: number): Parser<HostPort | null> =>
  (text) => {
    if (text === 'none') return { value: null };
    const parsed = listenAddress(defaultPort)(text);
    return 'value' in parsed ? parsed : { expected: `none, or ${parsed.expected}` };
  };

/** `192.0.2.0/24`, `2001:db8::/32`, or a single address. */
export const cidr: Parser<string> = canonicalBy(canonicalCidr, 'an IP address or a CIDR block');

/** `none`, or names separated by commas; the root is `.`. */
export const controlNames: Parser<readonly string[]> = (text) => {
  if (text === 'none') return { value: [] };
  const names = list(text).map((name) => name.toLowerCase());
  const valid = names.length > 0 && names.length <= DNS_CONTROL_NAMES_MAX;
  return valid && names.every((name) => name === '.' || (name !== 'none' && isHostName(name)))
    ? { value: names }
    : { expected: `none, or 1 to ${DNS_CONTROL_NAMES_MAX} comma-separated domain names` };
};

export const dnsServer: Parser<HostPort> = (text) => {
  const value = parseHostPort(text, DNS_PORT);
  if (value !== null) return { value };
  return { expected: 'an IP address with an optional port (IPv6 with a port in brackets: [::1]:53)' };
};

/** `sqlite:PATH` or a PostgreSQL address (libpq, "Connection URIs"). */
export const databaseUrl: Parser<string> = (text) => {
  if (/^sqlite:./.test(text)) return { value: text };
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return { value: text };
  return { expected: 'sqlite:PATH or postgres://user:password@host/database' };
};

/** An absolute http(s) URL; trailing slashes are removed. */
export const webAddress: Parser<string> = (text) => {
  const expected = 'an http:// or https:// URL without query, fragment or password';
  if (!URL.canParse(text)) return { expected };
  const url = new URL(text);
  const plain = url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (!/^https?:$/.test(url.protocol) || !plain) return { expected };
  return { value: url.href.replace(/\/+$/, '') };
};

export const webAddressOrNone: Parser<string | null> = (text) => {
  if (text === 'none') return { value: null };
  const address = webAddress(text);
  return 'value' in address ? address : { expected: `none, or ${address.expected}` };
};

/** What RFC 9116 §2.5.3 allows, of what people use: an email address, a `mailto:` or an `https:` URI. */
export const securityContact: Parser<string> = (text) => {
  const address = mailAddress(text.replace(/^mailto:/i, ''));
  if ('value' in address) return { value: `mailto:${address.value}` };
  const page = webAddress(text);
  if ('value' in page && page.value.startsWith('https://')) return page;
  return { expected: 'an email address or an https:// URL' };
};

/** Characters; secrets are generated, not typed. */
const SECRET_MAX = 512;
export const BEARER_TOKEN_MIN = 16;
export const SECRET_MIN = 32;
const BEARER_TOKEN = new RegExp(`^[A-Za-z0-9._~+/-]{${BEARER_TOKEN_MIN},${SECRET_MAX}}=*$`);
const SECRET = new RegExp(`^[\\x20-\\x7e]{${SECRET_MIN},${SECRET_MAX}}$`);

/** A token for the Authorization header (RFC 6750 §2.1), too long to guess. */
export const bearerToken: Parser<string> = (text) =>
  BEARER_TOKEN.test(text)
    ? { value: text }
    : { expected: `${BEARER_TOKEN_MIN} or more characters of A-Z a-z 0-9 . _ ~ + / -` };

/** Bytes of a file that an option names. */
const FILE_MAX = 256 * 1024;

/** The value that is in a file, of which `read` returns null where it is another one. */
const inFile =
  <T>(expected: string, read: (text: string) => T | null): Parser<T> =>
  (file) => {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      const why = error instanceof Error && 'code' in error ? error.code : 'unreadable';
      return { expected: `a file that this user may read (${why})` };
    }
    const value = text.length > FILE_MAX ? null : read(text);
    return value === null ? { expected: `a file with ${expected}` } : { value };
  };

/** Longer than the length of a password (RFC 1929 §2) could say, a token could never be given. */
const SOCKS_PASSWORD_MAX = 255;
export const TOKENS_MAX = 16;

export const tokensFile: Parser<readonly string[]> = inFile(
  `a token in each line, at most ${TOKENS_MAX}, each ${BEARER_TOKEN_MIN} to ${SOCKS_PASSWORD_MAX} characters of A-Z a-z 0-9 . _ ~ + / - (openssl rand -hex 32 makes one)`,
  (text) => {
    const lines = list(text.replaceAll(/\r?\n/g, ','));
    const valid = lines.every((line) => 'value' in bearerToken(line) && line.length <= SOCKS_PASSWORD_MAX);
    return valid && lines.length > 0 && lines.length <= TOKENS_MAX ? lines : null;
  },
);

interface CertificateFile {
  /** With those that lead to its issuer. */
  readonly pem: string;
  readonly first: X509Certificate;
}

export const certificateFile: Parser<CertificateFile> = inFile('a certificate in PEM format', (pem) =>
  orNull(() => ({ pem, first: new X509Certificate(pem) })),
);

interface PrivateKeyFile {
  readonly pem: string;
  readonly key: KeyObject;
}

export const privateKeyFile: Parser<PrivateKeyFile> = inFile(
  'a private key in PEM format, without a passphrase',
  (pem) => orNull(() => ({ pem, key: createPrivateKey(pem) })),
);

/** Null where it throws, as what it reads is not what it should be. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

export const authSecret: Parser<string> = (text) =>
  SECRET.test(text) ? { value: text } : { expected: `${SECRET_MIN} or more printable ASCII characters` };

/** `smtp://` or `smtps://` with a host; user and password percent-encoded (RFC 3986 §3.2.1). */
export const mailServer: Parser<string> = (text) => {
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

export const path: Parser<string> = (text) => (text.includes('\0') ? { expected: 'a path' } : { value: text });

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

/** The reverse-path of MAIL FROM (RFC 5321 §4.1.2); the null reverse-path `<>` becomes the empty string. */
/** Null: `none`. */
export const paceGroup: Parser<string | null> = (text) => {
  if (text === 'none') return { value: null };
  return /^[\w.-]{1,64}$/.test(text)
    ? { value: text }
    : { expected: 'up to 64 letters, digits, dots, hyphens and underscores, or none' };
};

export const sender: Parser<string> = (text) => {
  if (text === '<>') return { value: '' };
  const match = /^([A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64})@(.+)$/.exec(text);
  const local = match?.[1] ?? '.';
  const good = isHostName(match?.[2] ?? '') && !local.startsWith('.') && !local.endsWith('.') && !local.includes('..');
  return good ? { value: `${local}@${match![2]!.toLowerCase()}` } : { expected: 'an ASCII email address or <>' };
};

/** An ASCII address at a host name, which every mail server accepts as a sender. */
export const mailAddress: Parser<string> = (text) => {
  const parsed = sender(text);
  return 'value' in parsed && parsed.value !== '' ? parsed : { expected: 'an ASCII email address' };
};
