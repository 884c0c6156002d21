import { fstatSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import type { CompatVendor } from '../kernel/compat-vendors.ts';
import { messageOf } from '../kernel/errors.ts';
import { withoutZone } from '../kernel/ip.ts';
import { nearest } from '../kernel/nearest.ts';
import {
  flagOf,
  isHostName,
  isQualified,
  OPTIONS,
  type OptionKey,
  type OptionRow,
  optionsOf,
  readNamedFile,
  type Settings,
} from './options.ts';

const OPTION_PREFIX = 'MAILVET_';
/**
 * Set in pods by Kubernetes if there is a Service whose name begins with "mailvet"; and those of this project's tests.
 */
const OF_OTHERS = /_(SERVICE_(HOST|PORT)(_.+)?|PORT(_\d+_(TCP|UDP|SCTP).*)?)$|^MAILVET_TEST_/;

/** One sentence for each variable that is named like an option and is none; it has no effect. Values are not shown. */
export function unknownVariables(env: EnvironmentVariables): string[] {
  const known = optionsOf('*').flatMap(([, { env: name, secret }]) => (secret ? [name, `${name}_FILE`] : [name]));
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith(OPTION_PREFIX) && !known.includes(name) && !OF_OTHERS.test(name),
  );
  // All names share the prefix, so it must not make them look alike.
  const rests = known.map((name) => name.slice(OPTION_PREFIX.length));
  return unknown.map((name) => {
    const close = nearest(name.slice(OPTION_PREFIX.length), rests);
    return `${name} is not an option${close === null ? '' : `; did you mean ${OPTION_PREFIX}${close}?`}`;
  });
}

/** The options of one process, checked and complete. Times carry their unit in the name. */
export interface Options
  extends Omit<
    Settings,
    'publicUrl' | 'command' | 'compat' | 'trustedProxies' | 'smtpBind' | 'relayBind' | 'listsDir' | 'mailFrom'
  > {
  /** The URL has no slash at its end. With port 0 it names port 0: only the listener knows better. */
  readonly publicUrl: string;
  readonly command: string;
  readonly compat: readonly CompatVendor[];
  /** Trusted proxies are canonical addresses and CIDR blocks. */
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
type OptionsResult = { ok: true; options: Options } | { ok: false; problems: string[] };

/** The only place that reads the process environment. */
export const systemEnvironment = (): EnvironmentVariables => process.env;

/** What systemd gives its services. `watchdogMs`: within which it wants a sign of life; null: it wants none. */
export function serviceManager(): { readonly listens: boolean; readonly watchdogMs: number | null } {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID = String(process.pid) } = process.env;
  const watched = WATCHDOG_USEC !== undefined && WATCHDOG_PID === String(process.pid);
  return { listens: Boolean(NOTIFY_SOCKET), watchdogMs: watched ? Number(WATCHDOG_USEC) / 1000 : null };
}

/** Says whether systemd reads standard output into its journal (systemd.exec(5), JOURNAL_STREAM). */
export function writesToJournal(): boolean {
  const { JOURNAL_STREAM } = process.env;
  if (!JOURNAL_STREAM) return false;
  const { dev, ino } = fstatSync(1, { bigint: true });
  return JOURNAL_STREAM === `${dev}:${ino}`;
}

/** The proxy of downloads over HTTPS, without its password; null: there is none. */
export function httpsProxy(): string | null {
  const text = process.env.https_proxy || process.env.HTTPS_PROXY;
  return text ? text.replace(/\/\/.*@/, '//') : null;
}

/** The file of `--env-file`, and the variables that were set from it. */
const environmentFile: { path: string | null; readonly names: Set<string> } = { path: null, names: new Set() };

/**
 * Sets the variables of a file, as `.env.example` is, that the environment does not have; again, it takes back those
 * that it set before. Throws an Error that names the file and why it cannot be read.
 */
export function readEnvironmentFile(path: string): void {
  const text = readNamedFile('--env-file', path);
  for (const name of environmentFile.names) delete process.env[name];
  environmentFile.names.clear();
  environmentFile.path = path;
  for (const [name, value] of Object.entries(parseEnv(text))) {
    if (process.env[name]) continue;
    process.env[name] = value;
    environmentFile.names.add(name);
  }
}

/** As before, where there is such a file. */
export function readEnvironmentFileAgain(): void {
  if (environmentFile.path !== null) readEnvironmentFile(environmentFile.path);
}

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
): OptionsResult {
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
  return problems.length > 0 ? { ok: false, problems } : { ok: true, options: withDerived(read as Settings, host) };
}

/** An option that is in effect. `value`: as text; `from`: the flag, variable or file that has it, or `default`. */
interface EffectiveOption {
  readonly name: string;
  readonly value: string;
  readonly from: string;
}

/** What the service would run with, secrets hidden; the problems are those of `readOptions`. */
export function effectiveOptions(
  flags: FlagValues,
  host: string,
): { ok: true; options: EffectiveOption[] } | { ok: false; problems: string[] } {
  const env = systemEnvironment();
  const read = readOptions(env, flags, host, 'serve');
  if (!read.ok) return read;
  const options = optionsOf('serve').map(([key, option]) => {
    const found = lookUp(option, env, flags[key]);
    const { name: from, text } = 'name' in found ? found : { name: 'default', text: option.default };
    const ofFile = environmentFile.names.has(from) ? ` in ${environmentFile.path}` : '';
    const value = option.secret && from !== 'default' ? '(hidden)' : (text ?? derivedText(read.options[key]));
    return { name: option.env, value, from: `${from}${ofFile}` };
  });
  return { ok: true, options };
}

/** Shows a value that follows from other options. */
function derivedText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(',');
  return String(value) || '<>';
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
    const text = readNamedFile(name, file).trim();
    return text === '' ? { problem: `${name}: ${file} is empty; it must contain the value.` } : { text, name };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** How this program was started, for people in its folder: others do not learn where that is. */
function ownCommand(): string {
  const program = (process.argv[1] ?? '').replaceAll('\\', '/');
  if (!program.endsWith('/bin/mailvet.mjs') || program.endsWith('/lib/node_modules/mailvet/bin/mailvet.mjs'))
    return 'mailvet';
  const path = program.includes('/node_modules/') ? 'node_modules/.bin/mailvet' : 'bin/mailvet.mjs';
  const command = process.platform === 'win32' && path === 'bin/mailvet.mjs' ? `node ${path}` : path;
  return environmentFile.path === null ? command : `${command} --env-file ${shellWord(environmentFile.path)}`;
}

/** Quoted for POSIX shells where it has to be. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

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
  problems.push(...oidcConflicts(read));
  return problems;
}

const isGiven = (value: unknown): boolean => value !== null && value !== undefined && value !== false;

function oidcConflicts(read: Partial<Settings>): string[] {
  const problems: string[] = [];
  /** What `one` is nothing without. */
  const needs = (one: OptionKey, ...others: readonly OptionKey[]) => {
    const missing = others.filter((other) => other in read && !isGiven(read[other]));
    if (!isGiven(read[one]) || missing.length < others.length) return;
    const named = others.map((other) => OPTIONS[other].env).join(' or ');
    problems.push(`${OPTIONS[one].env} is set without ${named}: set it as well, or remove ${OPTIONS[one].env}.`);
  };
  needs('oidcIssuer', 'oidcClientId');
  needs('oidcClientId', 'oidcIssuer');
  needs('oidcClientSecret', 'oidcIssuer');
  needs('oidcAllowedDomains', 'oidcIssuer');
  needs('oidcAccount', 'oidcIssuer');
  needs('oidcAccount', 'oidcRole', 'oidcRoleMap');
  needs('oidcRole', 'oidcAccount');
  needs('oidcRoleClaim', 'oidcAccount');
  needs('oidcRoleClaim', 'oidcRoleMap');
  needs('oidcRoleMap', 'oidcRoleClaim');
  needs('oidcSecondFactor', 'oidcIssuer');
  needs('oidcOnly', 'oidcIssuer');
  if (read.oidcOnly === true && read.signup === 'open')
    problems.push(
      'MAILVET_SIGNUP is "open" with MAILVET_OIDC_ONLY, which has no passwords to sign up with: set MAILVET_SIGNUP=closed.',
    );
  return problems;
}

/** Nothing is kept, looked up or downloaded, and nobody waits for the drain. */
const TEST_ONLY = {
  databaseUrl: 'sqlite::memory:',
  listsUpdate: 'off',
  listsLearnHosts: false,
  smtpHelo: null,
  smtpEgressFile: null,
  drainSeconds: 0,
} as const satisfies Partial<Settings>;

function withDerived(given: Settings, host: string): Options {
  const settings = given.testOnly ? { ...given, ...TEST_ONLY } : given;
  const own = host.toLowerCase();
  const valid = settings.allowPrivateNetworks ? isHostName(own) : isQualified(own);
  const smtpHelo = settings.smtpHelo ?? (valid && !settings.testOnly ? own : null);
  const publicUrl = settings.publicUrl ?? publicUrlOf(settings.host, settings.port);
  return {
    ...settings,
    publicUrl,
    command: settings.command ?? ownCommand(),
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
  return `http://${bare === '0.0.0.0' || bare === '::' ? 'localhost' : hostInUrl(bare)}:${port}`;
}

/** Puts IPv6 addresses in brackets, without a zone (RFC 3986 §3.2.2). */
export function hostInUrl(host: string): string {
  const bare = withoutZone(host);
  return bare.includes(':') ? `[${bare}]` : bare;
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
