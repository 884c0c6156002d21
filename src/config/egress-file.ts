/** MAILVET_SMTP_EGRESS_FILE is a YAML list with an entry for each egress. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { dirname, resolve } from 'node:path';
import { isAlias, isScalar, isSeq } from 'yaml';
import { type Egress, IP_FAMILIES, type IpFamily, type SocksServer } from '../kernel/egress.ts';
import { canonicalIp, inBlock, ipMatcher, parseCidr, parseIp } from '../kernel/ip.ts';
import { nearest } from '../kernel/nearest.ts';
import { errorCodeOf, heloName, isHostName, isQualified, sender } from './options.ts';
import { quoted, YamlFile, type YamlValue } from './yaml-file.ts';

interface Context {
  /** Messages name the file by this path, and paths in the file are relative to its folder. */
  readonly path: string;
  /** Test setups: names need not be qualified. */
  readonly isLaboratory: boolean;
  /** Names of the mail operators that the data knows; called where an entry names one. */
  readonly providers: () => ReadonlySet<string>;
}

type ReadEgresses =
  | { readonly ok: true; readonly egresses: readonly Egress[] }
  | { readonly ok: false; readonly problems: readonly string[] };

const EGRESSES_MAX = 200;
const WEIGHT_MAX = 1_000;
/** RFC 1929 §2 has a length of one octet. */
const CREDENTIAL_OCTETS_MAX = 255;
const SECRET_CHARACTERS_MAX = 1_000;
const CERTIFICATES_CHARACTERS_MAX = 1_000_000;
const SOCKS_PORT = 1080;
const EGRESS_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;
const SCHEMES: Readonly<Record<string, { readonly tls: boolean }>> = {
  'socks5:': { tls: false },
  'socks5h:': { tls: false },
  'socks5+tls:': { tls: true },
};
const EGRESS_KEYS = [
  'name',
  'helo',
  'from',
  'bind',
  'via',
  'password_file',
  'ca_file',
  'families',
  'weight',
  'operators',
] as const;
type EgressKey = (typeof EGRESS_KEYS)[number];
/** Loopback, private, shared and link-local addresses: a password on the way there is seen by nobody else. */
const isPrivate = ipMatcher([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
]);

/** All mistakes at once, each with its line and what to write instead, but never a password. */
export function parseEgressFile(text: string, context: Context): ReadEgresses {
  return new EgressFileReader(context).read(text);
}

type EgressFields = ReadonlyMap<EgressKey, YamlValue>;

class EgressFileReader {
  readonly #context: Context;
  readonly #file: YamlFile;
  /** Lines, by name and by where it leads from. */
  readonly #names = new Map<string, number>();
  readonly #ways = new Map<string, number>();

  constructor(context: Context) {
    this.#context = context;
    this.#file = new YamlFile(context.path);
  }

  read(text: string): ReadEgresses {
    const egresses = this.#egresses(text);
    const { problems } = this.#file;
    return problems.length > 0 ? { ok: false, problems } : { ok: true, egresses };
  }

  #egresses(text: string): Egress[] {
    const list = this.#file.parse(text);
    if (list === undefined) return [];
    if (!isSeq(list) || list.items.length === 0) {
      this.#file.say(this.#file.lineOf(list, 1), 'give a list with an entry for each egress, such as "- name: fra-1".');
      return [];
    }
    if (list.items.length > EGRESSES_MAX) this.#file.say(1, `at most ${EGRESSES_MAX} entries.`);
    return list.items.slice(0, EGRESSES_MAX).flatMap((item) => this.#entry(item, this.#file.lineOf(list, 1)) ?? []);
  }

  #entry(node: unknown, above: number): Egress | null {
    const line = this.#file.lineOf(node, above);
    const fields = this.#file.fields({ node, line }, EGRESS_KEYS, 'an entry');
    if (fields === null) return null;
    const name = this.#name(fields, line);
    const helo = this.#helo(fields, line);
    const from = this.#from(fields, helo);
    const bind = this.#bind(fields);
    const via = this.#via(fields);
    const bound = bind === null ? null : isIP(bind) === 6 ? 6 : 4;
    const families = this.#families(fields, bound);
    const weight = this.#weight(fields);
    const operators = this.#operators(fields);
    const [bindAt, viaAt] = [fields.get('bind'), fields.get('via')];
    if (bindAt && viaAt) this.#file.say(viaAt.line, 'bind and via together: keep one of them.');
    this.#once(this.#ways, bind ?? '', bindAt?.line, 'another entry has this address');
    if (name === null || helo === null || from === null) return null;
    return { name, helo, from, bind, via, families, weight, operators };
  }

  /** Undefined: not there; null: a mistake, which has been reported. */
  #text(fields: EgressFields, key: EgressKey): string | null | undefined {
    const value = fields.get(key);
    if (value === undefined) return undefined;
    const { node, line } = value;
    if (isAlias(node)) return this.#file.say(line, `${key}: write the value itself, not an alias.`);
    const text = isScalar(node) && (typeof node.value === 'string' || typeof node.value === 'number') ? node.value : '';
    return String(text).trim() === '' ? this.#file.say(line, `${key}: give a text.`) : String(text).trim();
  }

  #once(known: Map<string, number>, value: string, line: number | undefined, what: string): void {
    if (value === '' || line === undefined) return;
    const before = known.get(value.toLowerCase());
    if (before !== undefined) this.#file.say(line, `${what}: see line ${before}.`);
    else known.set(value.toLowerCase(), line);
  }

  #name(fields: EgressFields, line: number): string | null {
    const name = this.#text(fields, 'name');
    if (name === undefined) return this.#file.say(line, 'name is missing: give each egress a name.');
    if (name === null) return null;
    const at = fields.get('name')?.line ?? line;
    if (!EGRESS_NAME.test(name))
      return this.#file.say(at, `name ${quoted(name)}: give up to 64 letters, digits, dots, hyphens and underscores.`);
    this.#once(this.#names, name, at, `another entry has the name ${quoted(name)}`);
    return name;
  }

  #helo(fields: EgressFields, line: number): string | null {
    const text = this.#text(fields, 'helo');
    if (text === undefined) return this.#file.say(line, 'helo is missing: give the name for EHLO.');
    if (text === null) return null;
    const parsed = heloName(text);
    if ('value' in parsed && (this.#context.isLaboratory || isQualified(text))) return parsed.value;
    const at = fields.get('helo')?.line ?? line;
    return this.#file.say(at, `helo ${quoted(text)}: give a fully qualified name such as mail.example.com.`);
  }

  #from(fields: EgressFields, helo: string | null): string | null {
    const text = this.#text(fields, 'from');
    if (text === undefined) return helo === null ? null : `verify@${helo}`;
    if (text === null) return null;
    const parsed = sender(text);
    const domain = text.split('@')[1];
    const isGood = domain === undefined || this.#context.isLaboratory || isQualified(domain);
    if ('value' in parsed && isGood) return parsed.value || '<>';
    const at = fields.get('from')?.line ?? 1;
    return this.#file.say(at, `from ${quoted(text)}: give an address at a fully qualified domain, or <>.`);
  }

  #bind(fields: EgressFields): string | null {
    const text = this.#text(fields, 'bind');
    if (text === undefined || text === null) return null;
    const at = fields.get('bind')?.line ?? 1;
    const ip = canonicalIp(text);
    if (ip === null) return this.#file.say(at, `bind ${quoted(text)}: give an IP address.`);
    if (!isOfThisHost(ip)) return this.#file.say(at, `bind ${ip} is not an address of this host.`);
    return ip;
  }

  #via(fields: EgressFields): SocksServer | null {
    const text = this.#text(fields, 'via');
    const at = fields.get('via')?.line ?? 1;
    const files = { password: this.#text(fields, 'password_file'), ca: this.#text(fields, 'ca_file') };
    for (const key of ['password_file', 'ca_file'] as const) {
      const value = fields.get(key);
      if (value !== undefined && text === undefined) this.#file.say(value.line, `${key} without via: it has no use.`);
    }
    if (text === undefined || text === null) return null;
    const url = URL.canParse(text) ? new URL(text) : null;
    const scheme = url === null ? undefined : SCHEMES[url.protocol];
    // Never shown: it may have a password.
    if (url === null || scheme === undefined || !/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '')
      return this.#file.say(at, 'via: give socks5://user:password@host:1080, or socks5h:// or socks5+tls:// likewise.');
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(host) === 0 && !isHostName(host))
      return this.#file.say(at, 'via: give the SOCKS server by name or IP address.');
    const credentials = this.#credentials(url, files.password, { via: at, file: fields.get('password_file')?.line });
    if (credentials === undefined) return null;
    const { tls } = scheme;
    if (!tls && fields.has('ca_file')) this.#file.say(at, 'ca_file is of use with socks5+tls only.');
    // What a name leads to is not known yet, so it counts as public.
    const isNear = isIP(host) === 0 ? host === 'localhost' : isPrivate(host);
    if (credentials === null && !tls && !isNear)
      return this.#file.say(at, 'via: a SOCKS server on a public address needs a password, or TLS (socks5+tls).');
    const ca = files.ca
      ? this.#readFile('ca_file', files.ca, fields.get('ca_file')?.line ?? at, CERTIFICATES_CHARACTERS_MAX)
      : null;
    if (ca !== null && !ca.includes('-----BEGIN CERTIFICATE-----'))
      this.#file.say(fields.get('ca_file')?.line ?? at, 'ca_file: give a file with certificates (PEM).');
    const port = url.port === '' ? SOCKS_PORT : Number(url.port);
    return { host, port, tls, ca, credentials: () => credentials };
  }

  /** Null means none, undefined a mistake. */
  #credentials(
    url: URL,
    file: string | null | undefined,
    lines: { readonly via: number; readonly file: number | undefined },
  ): ReturnType<SocksServer['credentials']> | undefined {
    let user: string;
    let written: string;
    try {
      [user, written] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    } catch {
      this.#file.say(lines.via, 'via: write % in user and password as %25.');
      return undefined;
    }
    if (file === null) return undefined;
    if (file !== undefined && written !== '') {
      this.#file.say(lines.file ?? lines.via, 'password_file and a password in via: keep one of them.');
      return undefined;
    }
    const password = file === undefined ? written : this.#readFile('password_file', file, lines.file ?? lines.via);
    if (password === null) return undefined;
    if (user === '' && password === '') return null;
    const isTooLong = (text: string) => Buffer.byteLength(text) > CREDENTIAL_OCTETS_MAX;
    if (password === '' || isTooLong(user) || isTooLong(password)) {
      this.#file.say(
        lines.via,
        `via: give a password, and at most ${CREDENTIAL_OCTETS_MAX} octets of user and password each.`,
      );
      return undefined;
    }
    return { user: user === '' ? 'mailvet' : user, password };
  }

  #readFile(key: string, path: string, line: number, most = SECRET_CHARACTERS_MAX): string | null {
    try {
      const text = readFileSync(resolve(dirname(this.#context.path), path), 'utf8').trim();
      if (text !== '' && text.length <= most) return text;
      return this.#file.say(line, `${key}: ${quoted(path)} is ${text === '' ? 'empty' : 'too long'}.`);
    } catch (error) {
      const why = `cannot read ${quoted(path)} (${errorCodeOf(error)}); give a file that this user may read.`;
      return this.#file.say(line, `${key}: ${why}`);
    }
  }

  #families(fields: EgressFields, bound: IpFamily | null): readonly IpFamily[] {
    const all = bound === null ? IP_FAMILIES : [bound];
    const value = fields.get('families');
    if (value === undefined) return all;
    const named = this.#list(value, 'families', 'a list of ipv4 and ipv6');
    const families = named.map((name) => (name === 'ipv4' ? 4 : name === 'ipv6' ? 6 : null));
    if (named.length === 0) return all;
    if (families.includes(null) || new Set(families).size < families.length)
      this.#file.say(value.line, 'families: give a list of ipv4 and ipv6.');
    else if (bound !== null && !families.includes(bound))
      this.#file.say(value.line, `families: bind is an address of ipv${bound}.`);
    return all.filter((family) => families.includes(family));
  }

  #weight(fields: EgressFields): number {
    const text = this.#text(fields, 'weight');
    if (text === undefined || text === null) return 1;
    const weight = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
    if (weight <= 0 || weight > WEIGHT_MAX)
      this.#file.say(
        fields.get('weight')?.line ?? 1,
        `weight ${quoted(text)}: give a number above 0, up to ${WEIGHT_MAX}.`,
      );
    return weight;
  }

  #operators(fields: EgressFields): Egress['operators'] {
    const value = fields.get('operators');
    if (value === undefined) return null;
    const found = this.#file.fields(value, ['only', 'except'] as const, 'operators');
    const [only, except] = [found?.get('only'), found?.get('except')];
    if (found !== null && only === undefined && except === undefined)
      return this.#file.say(value.line, 'operators: give only or except, each with a list of mail operators.');
    if (only !== undefined && except !== undefined)
      this.#file.say(except.line, 'operators: only and except together: keep one of them.');
    const [onlyNames, exceptNames] = [this.#operatorNames(only, 'only'), this.#operatorNames(except, 'except')];
    if (onlyNames !== null) return { only: onlyNames };
    return exceptNames === null ? null : { except: exceptNames };
  }

  #operatorNames(value: YamlValue | undefined, key: string): readonly string[] | null {
    if (value === undefined) return null;
    const names = this.#list(value, `operators: ${key}`, 'a list of mail operators');
    const known = this.#context.providers();
    for (const name of names) {
      if (known.has(name)) continue;
      const close = nearest(name, [...known]);
      const hint = close === null ? 'see the providers of the data' : `did you mean ${close}?`;
      this.#file.say(value.line, `operators: the data knows no operator ${quoted(name)}; ${hint}`);
    }
    return names;
  }

  #list({ node, line }: YamlValue, key: string, expected: string): string[] {
    const items = isSeq(node) ? node.items : [];
    const texts = items.flatMap((item) => (isScalar(item) && typeof item.value === 'string' ? item.value : []));
    if (texts.length > 0 && texts.length === items.length) return texts;
    this.#file.say(line, `${key}: give ${expected}.`);
    return [];
  }
}

/** All of 127.0.0.0/8 is this host, as far as the loopback interface says so. */
function isOfThisHost(ip: string): boolean {
  const address = parseIp(ip);
  const infos = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const covers = ({ address: own, cidr, internal, family }: NetworkInterfaceInfo) => {
    const block = internal && family === 'IPv4' && cidr !== null ? parseCidr(cidr) : null;
    return canonicalIp(own) === ip || (block !== null && address !== null && inBlock(address, block));
  };
  return infos.some(covers);
}
