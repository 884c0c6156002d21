import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { flagsOf, optionsPage, sampleEnvironment } from './help.ts';
import { flagOf, OPTIONS, optionsOf } from './options.ts';
import { type EnvironmentVariables, type FlagValues, type Options, publicUrlOf, readOptions } from './read.ts';

const dir = mkdtempSync(join(tmpdir(), 'mailvet-config-'));
afterAll(() => rmSync(dir, { recursive: true }));

function good(env: EnvironmentVariables, flags: FlagValues = {}, host = 'box.example.com'): Options {
  const read = readOptions(env, flags, host);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return read.options;
}
function problems(env: EnvironmentVariables, flags: FlagValues = {}): string[] {
  const read = readOptions(env, flags, 'box.example.com');
  return read.ok ? [] : read.problems;
}

describe('with nothing set', () => {
  it('has the documented defaults', () => {
    expect(good({})).toEqual({
      databaseUrl: 'sqlite:./data/mailvet.db',
      host: '127.0.0.1',
      port: 8025,
      publicUrl: 'http://127.0.0.1:8025',
      command: 'mailvet',
      testOnly: false,
      testKeys: [`mv_test_${'0'.repeat(32)}`],
      compat: [],
      securityContact: null,
      connectionsPerNetwork: 500,
      trustedProxies: [],
      authSecret: null,
      mailUrl: null,
      mailFrom: 'mailvet@[127.0.0.1]',
      signup: 'closed',
      signupCredits: 100,
      dnsServers: null,
      dnsTimeoutMs: 2000,
      drainSeconds: 10,
      dnsControlNames: ['com', 'net', 'org', 'gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com'],
      smtpPort: 25,
      smtpHelo: 'box.example.com',
      smtpFrom: 'verify@box.example.com',
      smtpBind: [],
      plansFile: null,
      oidcIssuer: null,
      oidcClientId: null,
      oidcClientSecret: null,
      oidcName: 'SSO',
      oidcScopes: ['openid', 'email', 'profile'],
      oidcAllowedDomains: null,
      oidcAccount: null,
      oidcRole: null,
      oidcRoleClaim: null,
      oidcRoleMap: null,
      oidcSecondFactor: null,
      oidcOnly: false,
      oidcStartAnyway: false,
      smtpEgressFile: null,
      storeAddresses: 'full',
      seenDays: 365,
      outcomesDays: 400,
      smtpConnectionsPerHost: 5,
      smtpRatePerOperator: 2,
      smtpBreakerSeconds: 3600,
      smtpPaceGroup: 'default',
      relayListen: { address: '0.0.0.0', port: 1080 },
      relayTokenFile: null,
      relayTlsCert: null,
      relayTlsKey: null,
      relayInsecure: false,
      relayPorts: [25],
      relayBind: [],
      relayMaxConnections: 1000,
      relayIdleSeconds: 120,
      relayTotalSeconds: 600,
      relayHealthListen: { address: '127.0.0.1', port: 1081 },
      allowPrivateNetworks: false,
      listsDir: 'data/lists',
      listsDisposableUrl: OPTIONS.listsDisposableUrl.default,
      listsFakefilterUrl: OPTIONS.listsFakefilterUrl.default,
      listsMailcheckerUrl: OPTIONS.listsMailcheckerUrl.default,
      listsTompecUrl: OPTIONS.listsTompecUrl.default,
      listsIvoloUrl: OPTIONS.listsIvoloUrl.default,
      listsLearnHosts: true,
      listsUpdate: 'daily',
      logLevel: 'info',
      logAddresses: 'hash',
      logClientIp: true,
      retentionDays: 30,
      role: 'all',
      metricsToken: null,
      metricsPort: null,
      url: 'http://127.0.0.1:8025',
      key: null,
    });
  });

  it.each([
    'laptop',
    'localhost',
    'localhost.localdomain',
    '127.0.0.1',
    'my_host.example.com',
    '',
  ])('starts on a host called "%s", without a HELO name', (host) =>
    expect(good({}, {}, host)).toMatchObject({ smtpHelo: null, smtpFrom: null }));

  it('accepts an unqualified host name if private networks are allowed', () => {
    const options = good({ MAILVET_ALLOW_PRIVATE_NETWORKS: 'true' }, {}, 'Laptop');
    expect(options).toMatchObject({ smtpHelo: 'laptop', smtpFrom: 'verify@laptop' });
  });

  it('treats an empty variable as not set', () => {
    expect(good({ MAILVET_PORT: ' ', MAILVET_HOST: '', PORT: '9000' })).toMatchObject({
      port: 9000,
      host: '127.0.0.1',
    });
  });
});

describe('where a value comes from', () => {
  it('prefers the flag to the variable, and the variable to its alias', () => {
    const env = { MAILVET_PORT: '1', PORT: '2' };
    expect(good(env, { port: '3' }).port).toBe(3);
    expect(good(env).port).toBe(1);
    expect(good({ PORT: '2' }).port).toBe(2);
  });

  it('reads secrets, and only secrets, from files', () => {
    const file = join(dir, 'url');
    writeFileSync(file, 'postgres://u:p@db/mailvet\n');
    expect(good({ MAILVET_DATABASE_URL_FILE: file }).databaseUrl).toBe('postgres://u:p@db/mailvet');
    expect(good({ DATABASE_URL_FILE: file }).databaseUrl).toBe('postgres://u:p@db/mailvet');
    expect(good({ MAILVET_HOST_FILE: file }).host).toBe('127.0.0.1');
  });

  it('reports a file that is unreadable, empty, or set together with the variable', () => {
    writeFileSync(join(dir, 'empty'), '\n');
    const token = 'x'.repeat(20);
    expect(problems({ MAILVET_METRICS_TOKEN_FILE: join(dir, 'none') })[0]).toMatch(
      /MAILVET_METRICS_TOKEN_FILE.*ENOENT/,
    );
    expect(problems({ MAILVET_METRICS_TOKEN_FILE: join(dir, 'empty') })[0]).toMatch(/is empty/);
    expect(problems({ MAILVET_METRICS_TOKEN: token, MAILVET_METRICS_TOKEN_FILE: 'x' })[0]).toMatch(/both set/);
  });

  it('accepts a boolean flag without a value', () => {
    expect(good({}, { allowPrivateNetworks: true }).allowPrivateNetworks).toBe(true);
  });
});

describe('values', () => {
  it('parses and normalizes lists', () => {
    const options = good({
      MAILVET_DNS_SERVERS: '192.0.2.1, 192.0.2.2:5353,2001:DB8::1,[::1]:54',
      MAILVET_TRUSTED_PROXIES: '10.0.0.0/8,192.0.2.7,2001:db8::/32,::1',
      MAILVET_SMTP_BIND: '192.0.2.5,2001:db8::5',
    });
    expect(options.dnsServers).toEqual([
      { address: '192.0.2.1', port: 53 },
      { address: '192.0.2.2', port: 5353 },
      { address: '2001:db8::1', port: 53 },
      { address: '::1', port: 54 },
    ]);
    expect(options.trustedProxies).toEqual(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1']);
    expect(options.smtpBind).toEqual(['192.0.2.5', '2001:db8::5']);
  });

  it('says that a zone is not part of a block, and keeps it where a socket needs it', () => {
    const read = readOptions({ MAILVET_TRUSTED_PROXIES: '10.0.0.1,fe80::1%eth0' });
    expect(read.ok ? [] : read.problems).toEqual([
      'MAILVET_TRUSTED_PROXIES is "10.0.0.1,fe80::1%eth0": give a comma-separated list, each item an IP address or a CIDR ' +
        'block without a zone (%eth0).',
    ]);
    const options = good({ MAILVET_HOST: 'fe80::1%eth0', MAILVET_DNS_SERVERS: '[FE80::2%eth0]:54,fe80::3%eth0' });
    expect(options.host).toBe('fe80::1%eth0');
    expect(options.publicUrl).toBe('http://[fe80::1]:8025');
    expect(options.dnsServers).toEqual([
      { address: 'fe80::2%eth0', port: 54 },
      { address: 'fe80::3%eth0', port: 53 },
    ]);
  });

  it('reads control names, or none', () => {
    expect(good({ MAILVET_DNS_CONTROL_NAMES: 'ORG, mail.lab,.' }).dnsControlNames).toEqual(['org', 'mail.lab', '.']);
    expect(good({ MAILVET_DNS_CONTROL_NAMES: 'none' }).dnsControlNames).toEqual([]);
  });

  it('accepts the null sender', () => expect(good({ MAILVET_SMTP_FROM: '<>' }).smtpFrom).toBe(''));

  it('stores downloaded lists next to the SQLite file', () => {
    expect(good({ MAILVET_DATABASE_URL: 'sqlite:/var/lib/mailvet/m.db' }).listsDir).toBe('/var/lib/mailvet/lists');
    expect(good({ MAILVET_DATABASE_URL: 'postgres://db/m' }).listsDir).toBe('./data/lists');
    expect(good({ MAILVET_DATABASE_URL: 'sqlite::memory:' }).listsDir).toBe('./data/lists');
  });

  it('derives a public URL that a browser can open', () => {
    expect(publicUrlOf('0.0.0.0', 80)).toBe('http://localhost:80');
    expect(publicUrlOf('::1', 80)).toBe('http://[::1]:80');
    expect(good({ MAILVET_PUBLIC_URL: 'https://verify.example.com/api/' }).publicUrl).toBe(
      'https://verify.example.com/api',
    );
  });

  const bad: readonly (readonly [string, readonly string[]])[] = [
    ['MAILVET_DATABASE_URL', ['mysql://x', 'sqlite:', 'postgres://[', './x.db']],
    ['MAILVET_HOST', ['a b', 'http://x', '-x']],
    ['MAILVET_PORT', ['x', '-1', '65536', '80.5', '0x50', 'tcp://10.0.0.1:80']],
    ['MAILVET_PUBLIC_URL', ['example.com', 'ftp://example.com', 'https://u:p@example.com', 'https://x/?a']],
    [
      'MAILVET_TRUSTED_PROXIES',
      ['10.0.0.0/33', '10.0.0/8', '::/129', '10.0.0.0/8/8', '10.0.0.0/', 'all', ',', 'fe80::1%eth0'],
    ],
    ['MAILVET_DNS_SERVERS', ['dns.example.com', '1.1.1.1:0', '1.1.1.1:65536', '[1.1.1.1]:53', '[::1', '1.1.1.1:']],
    ['MAILVET_DNS_CONTROL_NAMES', ['com,none', 'a b', 'gmail..com', ',', Array(17).fill('com').join()]],
    ['MAILVET_DNS_TIMEOUT_MS', ['0', '1e3', '2s']],
    ['MAILVET_SMTP_PORT', ['0', 'smtp']],
    [
      'MAILVET_SMTP_HELO',
      ['localhost', 'laptop', 'localhost.localdomain', 'a..b', '192.0.2.1', 'ex ample.com', 'a.b\r\nX'],
    ],
    [
      'MAILVET_SMTP_FROM',
      ['verify', 'a@b@c.example', 'a b@x.example', '.a@x.example', 'a@localhost', 'a@x.example\r\nRSET'],
    ],
    ['MAILVET_SMTP_BIND', ['eth0', '192.0.2.1/24']],
    ['MAILVET_SMTP_CONNECTIONS_PER_HOST', ['0', '-1']],
    ['MAILVET_SMTP_RATE_PER_OPERATOR', ['-1', 'fast']],
    ['MAILVET_SMTP_BREAKER_SECONDS', ['-1', '1h']],
    ['MAILVET_ALLOW_PRIVATE_NETWORKS', ['maybe', '2']],
    ['MAILVET_LISTS_DISPOSABLE_URL', ['file:///etc/passwd']],
    ['MAILVET_LOG_LEVEL', ['loud', 'INFO']],
    ['MAILVET_LOG_ADDRESSES', ['plain']],
    ['MAILVET_RETENTION_DAYS', ['0', 'forever']],
    ['MAILVET_ROLE', ['web']],
    ['MAILVET_METRICS_TOKEN', ['short', 'with a space in the middle']],
    ['MAILVET_METRICS_PORT', ['x']],
    ['MAILVET_AUTH_SECRET', ['x'.repeat(31), `${'x'.repeat(40)}é`]],
    [
      'MAILVET_MAIL_URL',
      ['mail.example.com', 'http://x', 'smtp://', 'smtp://u@x', 'smtp://x/y', 'smtp://x?a', 'smtp://u:%@x', 'smtp:x'],
    ],
    ['MAILVET_MAIL_FROM', ['<>', 'mailvet', 'a@b@c', 'a@x.example\r\nBcc: b@x.example']],
    ['MAILVET_SIGNUP', ['yes']],
    ['MAILVET_SIGNUP_CREDITS', ['-1', '1e3']],
  ];
  it.each(
    bad.flatMap(([name, values]) => values.map((value) => [name, value] as const)),
  )('refuses %s=%j and says what to give', (name, value) => {
    const found = problems({ [name]: value });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^${name}.*: give .+\\.$`, 's'));
  });

  it('reports all problems at once, by flag if one was given', () => {
    const found = problems({ MAILVET_PORT: 'x', MAILVET_LOG_LEVEL: 'loud' }, { host: 'a b' });
    expect(found.map((problem) => problem.split(' ')[0])).toEqual(['--host', 'MAILVET_PORT', 'MAILVET_LOG_LEVEL']);
  });

  it('never echoes a secret', () => {
    const found = problems({ MAILVET_DATABASE_URL: 'mysql://u:hunter2@db', MAILVET_METRICS_TOKEN: 'hunter2' });
    expect(found).toHaveLength(2);
    expect(found.join()).not.toContain('hunter2');
  });

  it('allows open sign-up only with a mail server', () => {
    expect(problems({ MAILVET_SIGNUP: 'open' })).toEqual([expect.stringMatching(/^MAILVET_SIGNUP .*MAILVET_MAIL_URL/)]);
    expect(good({ MAILVET_SIGNUP: 'open', MAILVET_MAIL_URL: 'smtps://u:p%40@[::1]:465' }).signup).toBe('open');
  });

  it('derives the sender address from the public host', () => {
    const from = (MAILVET_PUBLIC_URL: string) => good({ MAILVET_PUBLIC_URL }).mailFrom;
    expect(from('https://verify.example.com')).toBe('mailvet@verify.example.com');
    expect(from('http://192.0.2.7:8025')).toBe('mailvet@[192.0.2.7]');
    expect(from('http://[2001:db8::1]')).toBe('mailvet@[IPv6:2001:db8::1]');
    expect(good({ MAILVET_MAIL_FROM: 'post@Example.com' }).mailFrom).toBe('post@example.com');
  });

  it('rejects the same port for two purposes', () => {
    expect(problems({ MAILVET_METRICS_PORT: '8025' })).toEqual([expect.stringContaining('MAILVET_METRICS_PORT')]);
    expect(good({ MAILVET_PORT: '0', MAILVET_METRICS_PORT: '0' }).metricsPort).toBe(0);
  });

  it('never throws', () => {
    const names = optionsOf('*').flatMap(([, option]) => [option.env, ...(option.aliases ?? []), `${option.env}_FILE`]);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.string({ unit: 'binary' })), (env) => {
        const read = readOptions(env, {}, 'box');
        expect(read.ok || read.problems.length > 0).toBe(true);
      }),
    );
  });
});

describe('what is made from the table', () => {
  it('has every option once in the docs page, the sample file and --help', () => {
    const flags = flagsOf('serve').map((flag) => flag.term.split(' ')[0]);
    expect(optionsOf('*').map(([key]) => key)).toEqual(Object.keys(OPTIONS));
    for (const [, option] of optionsOf('*')) {
      expect(optionsPage().split(`\`${option.env}\``)).toHaveLength(2);
      expect(sampleEnvironment().split(`\n#${option.env}=`)).toHaveLength(2);
      expect(flags.includes(flagOf(option))).toBe(option.commands?.includes('serve') ?? true);
    }
  });

  it('has a sample file whose uncommented lines equal the defaults', () => {
    const lines = sampleEnvironment().matchAll(/^#(MAILVET_\w+)=(.*)$/gm);
    expect(good(Object.fromEntries([...lines].map(([, name, value]) => [name, value])))).toEqual(good({}));
  });

  it('derives the flag from the variable, and the key from the flag', () => {
    for (const [key, option] of optionsOf('*')) {
      const words = flagOf(option).slice(2);
      const camel = (option.group === 'Relay' ? `relay-${words}` : words).replace(/-(\w)/g, (_, letter: string) =>
        letter.toUpperCase(),
      );
      expect(camel).toBe(key);
    }
  });
});
