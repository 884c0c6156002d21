import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { flagOf, OPTIONS, type OptionKey, type OptionRow, type Settings } from './options.ts';
import { isHostName, isQualified } from './values.ts';

/** The options of one process, checked and complete. Times carry their unit in the name. */
export interface Options extends Omit<Settings, 'publicUrl' | 'trustedProxies' | 'smtpBind' | 'listsDir' | 'mailFrom'> {
  /** Without a slash at its end. With port 0 it names port 0: only the listener knows better. */
  readonly publicUrl: string;
  /** CIDR blocks, each with its prefix length. */
  readonly trustedProxies: readonly string[];
  readonly smtpBind: readonly string[];
  readonly listsDir: string;
  /** Sender of mails to the people who sign in. */
  readonly mailFrom: string;
  /** Null: this host has no name that a mail server would take, so the mailbox check cannot be done. */
  readonly smtpHelo: string | null;
  /** The empty string is the null sender `<>`; null where there is no HELO name to make one from. */
  readonly smtpFrom: string | null;
}

export type Environment = Readonly<Record<string, string | undefined>>;
/** As commander gives them: by key of the table. */
export type Flags = Readonly<Partial<Record<OptionKey, string | boolean>>>;
export type ReadOptions = { ok: true; options: Options } | { ok: false; problems: string[] };

/** The one place where the program's environment is taken from. */
export const systemEnvironment = (): Environment => process.env;

/**
 * Options from flags first, then the environment, then files named by `…_FILE`, then the other names, then defaults.
 * A variable that is set to nothing counts as not set. Reports every problem at once, each naming the variable and
 * what to give instead; values of secrets are never repeated.
 */
export function readOptions(env: Environment, flags: Flags = {}, host: string = hostname()): ReadOptions {
  const problems: string[] = [];
  const settings: Record<string, unknown> = {};
  for (const [key, option] of Object.entries(OPTIONS) as [OptionKey, OptionRow][]) {
    const found = find(option, env, flags[key]);
    if ('problem' in found) problems.push(found.problem);
    const text = 'text' in found ? found.text : option.default;
    const parsed = text === null ? { value: null } : option.parse(text);
    if ('value' in parsed) settings[key] = parsed.value;
    else problems.push(`${'name' in found ? found.name : option.env}${echo(option, text)}: give ${parsed.expected}.`);
  }
  // Rows without a problem are whole; rows with one are looked at no further.
  const read = settings as Partial<Settings>;
  problems.push(...contradictions(read));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, options: complete(read as Settings, host) };
}

const echo = (option: OptionRow, text: string | null): string =>
  option.secret ? '' : ` is ${JSON.stringify((text ?? '').slice(0, 100))}`;

type Found = { text: string; name: string } | { problem: string } | Record<string, never>;

function find(option: OptionRow, env: Environment, flag: string | boolean | undefined): Found {
  if (flag !== undefined && flag !== '') return { text: String(flag).trim(), name: flagOf(option) };
  for (const name of [option.env, ...(option.aliases ?? [])]) {
    const text = env[name]?.trim();
    const file = option.secret ? env[`${name}_FILE`]?.trim() : undefined;
    if (text && file) return { problem: `${name} and ${name}_FILE are both set: keep one of them.` };
    if (text) return { text, name };
    if (file) return fromFile(`${name}_FILE`, file);
  }
  return {};
}

function fromFile(name: string, file: string): Found {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' ? { problem: `${name}: ${file} is empty; write the value into it.` } : { text, name };
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'it cannot be read';
    return { problem: `${name}: ${file} cannot be read (${why}); name a file that this user may read.` };
  }
}

/** Values that are good alone and not together. */
function contradictions(read: Partial<Settings>): string[] {
  const problems: string[] = [];
  const laboratory = read.allowPrivateNetworks === true;
  if (read.smtpHelo && !laboratory && !isQualified(read.smtpHelo))
    problems.push(
      `MAILVET_SMTP_HELO is "${read.smtpHelo}": give a full name such as mail.example.com, or leave it out; ` +
        'other names only with MAILVET_ALLOW_PRIVATE_NETWORKS=true.',
    );
  const domain = read.smtpFrom?.split('@')[1];
  if (domain !== undefined && !laboratory && !isQualified(domain))
    problems.push(`MAILVET_SMTP_FROM is "${read.smtpFrom}": give an address at a full domain name, or <>.`);
  if (read.signup === 'open' && read.mailUrl === null)
    problems.push(
      'MAILVET_SIGNUP is "open" without MAILVET_MAIL_URL: name a mail server, since whoever signs up is sent a link, or ' +
        'set MAILVET_SIGNUP=closed.',
    );
  if (read.metricsPort && read.metricsPort === read.port)
    problems.push(`MAILVET_METRICS_PORT is ${read.metricsPort}, the port of the service: give another one.`);
  return problems;
}

function complete(settings: Settings, host: string): Options {
  const own = host.toLowerCase();
  const usable = settings.allowPrivateNetworks ? isHostName(own) : isQualified(own);
  const smtpHelo = settings.smtpHelo ?? (usable ? own : null);
  const publicUrl = settings.publicUrl ?? publicUrlOf(settings.host, settings.port);
  return {
    ...settings,
    publicUrl,
    mailFrom: settings.mailFrom ?? `mailvet@${mailDomainOf(publicUrl)}`,
    trustedProxies: settings.trustedProxies ?? [],
    smtpBind: settings.smtpBind ?? [],
    smtpHelo,
    smtpFrom: settings.smtpFrom ?? (smtpHelo === null ? null : `verify@${smtpHelo}`),
    listsDir: settings.listsDir ?? besideStore(settings.databaseUrl),
  };
}

/** `http://host:port` for a browser on this machine; "every address" is called localhost. */
export function publicUrlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/** The host of an address as it stands behind an @: an IP address as a literal (RFC 5321 §4.1.3). */
function mailDomainOf(publicUrl: string): string {
  const { hostname: host } = new URL(publicUrl);
  if (host.startsWith('[')) return `[IPv6:${host.slice(1, -1)}]`;
  return isIP(host) === 0 ? host : `[${host}]`;
}

function besideStore(databaseUrl: string): string {
  const file = databaseUrl.startsWith('sqlite:') ? databaseUrl.slice('sqlite:'.length) : '';
  return file === '' || file.startsWith(':') ? './data/lists' : join(dirname(file), 'lists');
}

/** The options of the mailbox check as the engine takes them; null where this host has no name to ask under. */
export function askerOf(options: Options) {
  if (options.smtpHelo === null || options.smtpFrom === null) return null;
  return {
    helo: options.smtpHelo,
    from: options.smtpFrom || '<>',
    port: options.smtpPort,
    bind: options.smtpBind,
    connectionsPerHost: options.smtpConnectionsPerHost,
    ratePerOperator: options.smtpRatePerOperator,
    breakerSeconds: options.smtpBreakerSeconds,
  };
}
