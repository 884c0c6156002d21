import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { CompatVendor } from '../kernel/compat-vendors.ts';
import { withoutZone } from '../kernel/ip.ts';
import { nearest } from '../kernel/nearest.ts';
import {
  flagOf,
  isHostName,
  isQualified,
  type OptionKey,
  type OptionRow,
  optionsOf,
  type Settings,
} from './options.ts';

const PREFIX = 'MAILVET_';
/**
 * Set in pods by Kubernetes if there is a Service whose name begins with "mailvet"; and those of this project's tests.
 */
const OF_OTHERS = /_(SERVICE_(HOST|PORT)(_.+)?|PORT(_\d+_(TCP|UDP|SCTP).*)?)$|^MAILVET_TEST_/;

/** One sentence for each variable that is named like an option and is none; it has no effect. Values are not shown. */
export function unknownVariables(env: EnvironmentVariables): string[] {
  const known = optionsOf('*').flatMap(([, { env: name, secret }]) => (secret ? [name, `${name}_FILE`] : [name]));
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith(PREFIX) && !known.includes(name) && !OF_OTHERS.test(name),
  );
  // All names share the prefix, so it must not make them look alike.
  const rests = known.map((name) => name.slice(PREFIX.length));
  return unknown.map((name) => {
    const close = nearest(name.slice(PREFIX.length), rests);
    return `${name} is not an option${close === null ? '' : `; did you mean ${PREFIX}${close}?`}`;
  });
}

/** The options of one process, checked and complete. Times carry their unit in the name. */
export interface Options
  extends Omit<
    Settings,
    'publicUrl' | 'compat' | 'trustedProxies' | 'smtpBind' | 'relayBind' | 'listsDir' | 'mailFrom'
  > {
  /** Without a slash at its end. With port 0 it names port 0: only the listener knows better. */
  readonly publicUrl: string;
  readonly compat: readonly CompatVendor[];
  /** Canonical addresses and CIDR blocks. */
  readonly trustedProxies: readonly string[];
  readonly smtpBind: readonly string[];
  readonly relayBind: readonly string[];
  readonly listsDir: string;
  /** Sender of mails to the people who sign in. */
  readonly mailFrom: string;
  /** Null: this host has no name that a mail server would take, so the mailbox check cannot be done. */
  readonly smtpHelo: string | null;
  /** The empty string is the null sender `<>`; null where there is no HELO name to make one from. */
  readonly smtpFrom: string | null;
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;
/** As commander gives them: by key of the table. */
export type FlagValues = Readonly<Partial<Record<OptionKey, string | boolean>>>;
type ReadOptions = { ok: true; options: Options } | { ok: false; problems: string[] };

/** The only place that reads the process environment. */
export const systemEnvironment = (): EnvironmentVariables => process.env;

/**
 * Precedence: flag, environment variable or its `…_FILE`, alternative names, default. An empty variable counts as not
 * set. Reports all problems at once, each with the variable and what to give instead, but never the value of a secret.
 * Options of a client or relay that `command` is not are left at their defaults. `conflictsOf` finds more problems in
 * the options that could be read.
 */
export function readOptions(
  env: EnvironmentVariables,
  flags: FlagValues = {},
  host: string = hostname(),
  command = '*',
  conflictsOf: (read: Partial<Settings>) => readonly string[] = () => [],
): ReadOptions {
  const problems: string[] = [];
  const settings: Record<string, unknown> = {};
  const used = new Set(optionsOf(command).map(([key]) => key));
  for (const [key, option] of optionsOf('*')) {
    const isRead = !OF_OTHER_HOSTS.has(option.group) || used.has(key);
    const found: RawValue = isRead ? lookUp(option, env, flags[key]) : {};
    if ('problem' in found) problems.push(found.problem);
    const text = 'text' in found ? found.text : option.default;
    const parsed = text === null ? { value: null } : option.parse(text);
    if ('value' in parsed) settings[key] = parsed.value;
    else problems.push(`${'name' in found ? found.name : option.env}${echo(option, text)}: give ${parsed.expected}.`);
  }
  // Only options that were parsed are checked against each other.
  const read = settings as Partial<Settings>;
  problems.push(...conflicts(read), ...conflictsOf(read));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, options: completed(read as Settings, host) };
}

const echo = (option: OptionRow, text: string | null): string =>
  option.secret ? '' : ` is ${JSON.stringify((text ?? '').slice(0, 100))}`;

/** These groups belong to programs that need not run on the host of the service. */
const OF_OTHER_HOSTS: ReadonlySet<OptionRow['group']> = new Set(['Client', 'Relay']);

type RawValue = { text: string; name: string } | { problem: string } | Record<string, never>;

function lookUp(option: OptionRow, env: EnvironmentVariables, flag: string | boolean | undefined): RawValue {
  if (flag !== undefined && flag !== '') return { text: String(flag).trim(), name: flagOf(option) };
  for (const name of [option.env, ...(option.aliases ?? [])]) {
    const text = env[name]?.trim();
    const file = option.secret ? env[`${name}_FILE`]?.trim() : undefined;
    if (text && file) return { problem: `${name} and ${name}_FILE are both set: remove one of them.` };
    if (text) return { text, name };
    if (file) return fromFile(`${name}_FILE`, file);
  }
  return {};
}

function fromFile(name: string, file: string): RawValue {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' ? { problem: `${name}: ${file} is empty; it must contain the value.` } : { text, name };
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? error.code : 'unreadable';
    return { problem: `${name}: cannot read ${file} (${why}); give a file that this user may read.` };
  }
}

/** Values that are valid on their own but not in combination. */
function conflicts(read: Partial<Settings>): string[] {
  const problems: string[] = [];
  const laboratory = read.allowPrivateNetworks === true;
  if (read.smtpHelo && !laboratory && !isQualified(read.smtpHelo))
    problems.push(
      `MAILVET_SMTP_HELO is "${read.smtpHelo}": give a fully qualified name such as mail.example.com, or leave it unset; ` +
        'other names require MAILVET_ALLOW_PRIVATE_NETWORKS=true.',
    );
  const domain = read.smtpFrom?.split('@')[1];
  if (domain !== undefined && !laboratory && !isQualified(domain))
    problems.push(`MAILVET_SMTP_FROM is "${read.smtpFrom}": give an address at a fully qualified domain, or <>.`);
  const short = { HELO: read.smtpHelo, FROM: read.smtpFrom, BIND: read.smtpBind };
  for (const [name, value] of Object.entries(short))
    if (read.smtpEgressFile && value !== null && value !== undefined)
      problems.push(
        `MAILVET_SMTP_${name} and MAILVET_SMTP_EGRESS_FILE are both set: remove the first and write it into the file.`,
      );
  if (read.signup === 'open' && read.mailUrl === null)
    problems.push(
      'MAILVET_SIGNUP is "open" without MAILVET_MAIL_URL: set a mail server, which sign-up needs to send a link, or set ' +
        'MAILVET_SIGNUP=closed.',
    );
  if (read.metricsPort && read.metricsPort === read.port)
    problems.push(`MAILVET_METRICS_PORT is ${read.metricsPort}, the port of the service: give a different one.`);
  return problems;
}

function completed(settings: Settings, host: string): Options {
  const own = host.toLowerCase();
  const valid = settings.allowPrivateNetworks ? isHostName(own) : isQualified(own);
  const smtpHelo = settings.smtpHelo ?? (valid ? own : null);
  const publicUrl = settings.publicUrl ?? publicUrlOf(settings.host, settings.port);
  return {
    ...settings,
    publicUrl,
    mailFrom: settings.mailFrom ?? `mailvet@${mailDomainOf(publicUrl)}`,
    compat: settings.compat ?? [],
    trustedProxies: settings.trustedProxies ?? [],
    smtpBind: settings.smtpBind ?? [],
    relayBind: settings.relayBind ?? [],
    smtpHelo,
    smtpFrom: settings.smtpFrom ?? (smtpHelo === null ? null : `verify@${smtpHelo}`),
    listsDir: settings.listsDir ?? defaultListsDir(settings.databaseUrl),
  };
}

/** `http://host:port` for a browser on this host; a wildcard address becomes localhost. */
export function publicUrlOf(host: string, port: number): string {
  const bare = withoutZone(host);
  const name = bare === '0.0.0.0' || bare === '::' ? 'localhost' : bare.includes(':') ? `[${bare}]` : bare;
  return `http://${name}:${port}`;
}

/** The host of a URL as the domain of a mail address; an IP address as a literal (RFC 5321 §4.1.3). */
function mailDomainOf(publicUrl: string): string {
  const { hostname: host } = new URL(publicUrl);
  if (host.startsWith('[')) return `[IPv6:${host.slice(1, -1)}]`;
  return isIP(host) === 0 ? host : `[${host}]`;
}

function defaultListsDir(databaseUrl: string): string {
  const file = databaseUrl.startsWith('sqlite:') ? databaseUrl.slice('sqlite:'.length) : '';
  return file === '' || file.startsWith(':') ? './data/lists' : join(dirname(file), 'lists');
}
