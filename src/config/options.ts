import {
  authSecret,
  bearerToken,
  boolean,
  cidr,
  databaseUrl,
  decimal,
  dnsServer,
  heloName,
  integer,
  ipAddress,
  listenHost,
  listOf,
  mailAddress,
  mailServer,
  oneOf,
  type Parser,
  path,
  port,
  remotePort,
  sender,
  webAddress,
} from './values.ts';

export type OptionGroup =
  | 'Store'
  | 'Listening'
  | 'Dashboard'
  | 'DNS'
  | 'Mailbox check'
  | 'Lists'
  | 'Logs and data'
  | 'Operation';

/** One option: everything that the program, `--help`, the docs page and the sample environment file know about it. */
export interface OptionRow<T = unknown> {
  readonly env: string;
  /** Other names of the variable, used where `env` is not set. */
  readonly aliases?: readonly string[];
  readonly group: OptionGroup;
  /** What stands behind the flag in `--help`. */
  readonly value: string;
  readonly parse: Parser<T>;
  /** As it would be written in the environment; null: no fixed value, and `defaultText` says what happens. */
  readonly default: string | null;
  readonly defaultText?: string;
  readonly help: string;
  /** Never echoed; also read from the file that `<env>_FILE` names. */
  readonly secret?: true;
  /** The commands that read it; left out: all of them. */
  readonly commands?: readonly string[];
}

/** Keeps the type of the value, and whether there is always one. */
const row = <T, const D extends string | null>(
  fields: Omit<OptionRow<T>, 'default'> & { readonly default: D },
): OptionRow<T> & { readonly default: D } => fields;

const SERVE = ['serve'] as const;
/** What names the service's address: `user` prints links. */
const LINKING = ['serve', 'user'] as const;
const ASKING = ['serve', 'verify', 'doctor'] as const;

/** The table. Order is the order of the docs page. */
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
  host: row({
    env: 'MAILVET_HOST',
    group: 'Listening',
    value: 'address',
    parse: listenHost,
    default: '127.0.0.1',
    help: 'Address to listen on. `0.0.0.0` or `::` is every address of the machine.',
    commands: LINKING,
  }),
  port: row({
    env: 'MAILVET_PORT',
    aliases: ['PORT'],
    group: 'Listening',
    value: 'port',
    parse: port,
    default: '8025',
    help: 'Port to listen on. 0 takes any free one.',
    commands: LINKING,
  }),
  publicUrl: row({
    env: 'MAILVET_PUBLIC_URL',
    group: 'Listening',
    value: 'url',
    parse: webAddress,
    default: null,
    defaultText: 'from the host and the port',
    help: 'Address of the service as people see it.',
    commands: LINKING,
  }),
  trustedProxies: row({
    env: 'MAILVET_TRUSTED_PROXIES',
    group: 'Listening',
    value: 'cidr,…',
    parse: listOf(cidr),
    default: null,
    defaultText: 'none',
    help: 'CIDR blocks of the proxies whose `X-Forwarded-For` is believed.',
    commands: SERVE,
  }),
  authSecret: row({
    env: 'MAILVET_AUTH_SECRET',
    group: 'Dashboard',
    value: 'secret',
    parse: authSecret,
    default: null,
    defaultText: 'made at first use and kept in the store',
    help:
      'Signs the cookies of the dashboard and encrypts the secrets of authenticator apps; 32 characters or more. ' +
      'Another one signs everybody out and makes their second factors useless.',
    secret: true,
    commands: LINKING,
  }),
  mailUrl: row({
    env: 'MAILVET_MAIL_URL',
    group: 'Dashboard',
    value: 'url',
    parse: mailServer,
    default: null,
    defaultText: 'none: no mail is sent',
    help:
      'Server for mails to the people who sign in: `smtp://user:password@host:587` (STARTTLS) or `smtps://…:465`. ' +
      'A password is sent over TLS only; certificates are verified.',
    secret: true,
    commands: SERVE,
  }),
  mailFrom: row({
    env: 'MAILVET_MAIL_FROM',
    group: 'Dashboard',
    value: 'address',
    parse: mailAddress,
    default: null,
    defaultText: '`mailvet@` the host of the public address',
    help: 'Sender of those mails.',
    commands: SERVE,
  }),
  signup: row({
    env: 'MAILVET_SIGNUP',
    group: 'Dashboard',
    value: 'who',
    parse: oneOf('closed', 'open'),
    default: 'closed',
    help:
      '`open`: strangers may sign up; their address is verified by the service itself and by a mail, so there has to ' +
      'be a mail server. `closed`: people are invited, or made by `mailvet user create`.',
    commands: SERVE,
  }),
  signupCredits: row({
    env: 'MAILVET_SIGNUP_CREDITS',
    group: 'Dashboard',
    value: 'n',
    parse: integer(0, 1_000_000_000),
    default: '100',
    help: 'Credits of an account that somebody signed up for.',
    commands: SERVE,
  }),
  dnsServers: row({
    env: 'MAILVET_DNS_SERVERS',
    group: 'DNS',
    value: 'ip[:port],…',
    parse: listOf(dnsServer),
    default: null,
    defaultText: "the system's",
    help: 'Resolvers to ask.',
    commands: ASKING,
  }),
  dnsTimeoutMs: row({
    env: 'MAILVET_DNS_TIMEOUT_MS',
    group: 'DNS',
    value: 'ms',
    parse: integer(50, 10_000),
    default: '2000',
    help: 'Milliseconds for one try; two tries a server.',
    commands: ASKING,
  }),
  smtpPort: row({
    env: 'MAILVET_SMTP_PORT',
    group: 'Mailbox check',
    value: 'port',
    parse: remotePort,
    default: '25',
    help: 'Port of the mail servers that are asked.',
    commands: ASKING,
  }),
  smtpHelo: row({
    env: 'MAILVET_SMTP_HELO',
    group: 'Mailbox check',
    value: 'name',
    parse: heloName,
    default: null,
    defaultText: "the host's full name",
    help:
      'Name in EHLO; it should resolve to the address that mail servers see. `localhost` and unqualified names are ' +
      "refused at start, unless private networks are allowed. Where the option is not set and the host's own name is " +
      'unqualified, the service starts without a name: `mx` works, and mail servers cannot be asked until it is set.',
    commands: ASKING,
  }),
  smtpFrom: row({
    env: 'MAILVET_SMTP_FROM',
    group: 'Mailbox check',
    value: 'address',
    parse: sender,
    default: null,
    defaultText: '`verify@` the HELO name',
    help: "Sender of the question. `<>` is allowed. Never an address at the recipient's own domain.",
    commands: ASKING,
  }),
  smtpBind: row({
    env: 'MAILVET_SMTP_BIND',
    group: 'Mailbox check',
    value: 'ip,…',
    parse: listOf(ipAddress),
    default: null,
    defaultText: 'none',
    help: 'Local addresses to ask from, in turn.',
    commands: ASKING,
  }),
  smtpConnectionsPerHost: row({
    env: 'MAILVET_SMTP_CONNECTIONS_PER_HOST',
    group: 'Mailbox check',
    value: 'n',
    parse: integer(1, 1000),
    default: '5',
    help: 'Dialogues open at once to one mail host.',
    commands: ASKING,
  }),
  smtpRatePerOperator: row({
    env: 'MAILVET_SMTP_RATE_PER_OPERATOR',
    group: 'Mailbox check',
    value: 'n',
    parse: decimal(0, 10_000),
    default: '2',
    help: "Dialogues begun per second with one operator's hosts; 0 = no bound.",
    commands: ASKING,
  }),
  smtpBreakerSeconds: row({
    env: 'MAILVET_SMTP_BREAKER_SECONDS',
    group: 'Mailbox check',
    value: 's',
    parse: integer(0, 604_800),
    default: '3600',
    help: 'How long an operator that refused our IP is not dialled again, in seconds; 0 = never opens.',
    commands: ASKING,
  }),
  allowPrivateNetworks: row({
    env: 'MAILVET_ALLOW_PRIVATE_NETWORKS',
    group: 'Mailbox check',
    value: 'true|false',
    parse: boolean,
    default: 'false',
    help:
      'Lets mail hosts be loopback, private or otherwise special addresses. For laboratories only; logged as a ' +
      'warning at start.',
    commands: ASKING,
  }),
  listsDir: row({
    env: 'MAILVET_LISTS_DIR',
    group: 'Lists',
    value: 'path',
    parse: path,
    default: null,
    defaultText: '`lists/` beside the SQLite store, else `./data/lists`',
    help: 'Where `lists update` keeps what it fetched; the service takes it from there without a restart.',
  }),
  listsDisposableUrl: row({
    env: 'MAILVET_LISTS_DISPOSABLE_URL',
    group: 'Lists',
    value: 'url',
    parse: webAddress,
    default:
      'https://raw.githubusercontent.com/disposable-email-domains/disposable-email-domains/main/disposable_email_blocklist.conf',
    help: 'Where `lists update` fetches the curated list of disposable domains.',
    commands: ['lists', 'doctor'],
  }),
  listsFakefilterUrl: row({
    env: 'MAILVET_LISTS_FAKEFILTER_URL',
    group: 'Lists',
    value: 'url',
    parse: webAddress,
    default: 'https://raw.githubusercontent.com/7c/fakefilter/main/txt/data.txt',
    help: 'Where `lists update` fetches the crawled list of disposable domains.',
    commands: ['lists'],
  }),
  logLevel: row({
    env: 'MAILVET_LOG_LEVEL',
    group: 'Logs and data',
    value: 'level',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    help: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
    commands: SERVE,
  }),
  logAddresses: row({
    env: 'MAILVET_LOG_ADDRESSES',
    group: 'Logs and data',
    value: 'how',
    parse: oneOf('hash', 'domain', 'full'),
    default: 'hash',
    help: 'How email addresses stand in the logs: `hash`, `domain` or `full`.',
    commands: SERVE,
  }),
  retentionDays: row({
    env: 'MAILVET_RETENTION_DAYS',
    group: 'Logs and data',
    value: 'days',
    parse: integer(1, 36_500),
    default: '30',
    help: 'How long single verifications are kept (usage counters stay).',
    commands: SERVE,
  }),
  role: row({
    env: 'MAILVET_ROLE',
    group: 'Operation',
    value: 'role',
    parse: oneOf('all', 'api', 'worker'),
    default: 'all',
    help: 'What this process does: `all`, `api` (answers requests) or `worker` (runs jobs).',
    commands: SERVE,
  }),
  metricsToken: row({
    env: 'MAILVET_METRICS_TOKEN',
    group: 'Operation',
    value: 'token',
    parse: bearerToken,
    default: null,
    defaultText: 'none: no `/metrics` on the main port',
    help: 'Opens `/metrics` to requests that carry this token, of 16 characters or more, as `Authorization: Bearer`.',
    secret: true,
    commands: SERVE,
  }),
  metricsPort: row({
    env: 'MAILVET_METRICS_PORT',
    group: 'Operation',
    value: 'port',
    parse: port,
    default: null,
    defaultText: 'none',
    help: 'Serves `/metrics` without a token on a port of its own, at the same host.',
    commands: SERVE,
  }),
} as const;

export type OptionKey = keyof typeof OPTIONS;
type Table = typeof OPTIONS;
type Value<K extends OptionKey> = Table[K] extends OptionRow<infer T> ? T : never;
/** What the table alone gives: null where nothing was set and there is no fixed default. */
export type Settings = { [K in OptionKey]: Table[K]['default'] extends null ? Value<K> | null : Value<K> };

/** Environment variable = flag: `MAILVET_DNS_SERVERS` = `--dns-servers`. */
export const flagOf = (option: Pick<OptionRow, 'env'>): string =>
  `--${option.env.replace('MAILVET_', '').toLowerCase().replaceAll('_', '-')}`;

/** The rows that `command` reads (`*`: all there are), in the order of the table. */
export const optionsOf = (command: string): readonly (readonly [OptionKey, OptionRow])[] =>
  (Object.entries(OPTIONS) as [OptionKey, OptionRow][]).filter(
    ([, option]) => command === '*' || (option.commands?.includes(command) ?? true),
  );
