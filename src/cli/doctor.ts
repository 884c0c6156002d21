import { networkInterfaces } from 'node:os';
import type { Command } from 'commander';
import { askerOf, type Options } from '../config/read.ts';
import type { Finding, World } from '../engine/doctor/diagnose.ts';
import { command, openedStore, optionsFrom, printable, say } from './command.ts';

export const doctorCommand = (): Command =>
  command('doctor', "Is this host fit to ask other people's mail servers? One line for each finding.").action(
    async (flags: { json?: boolean }) => {
      const options = optionsFrom(flags, 'doctor');
      const { CHECK_MS, diagnose, isFit } = await import('../engine/doctor/diagnose.ts');
      const { world, close } = await worldOf(options, CHECK_MS);
      const findings = await diagnose(world).finally(close);
      const ok = isFit(findings);
      say(flags, { findings, ok }, linesOf(findings));
      if (!ok) process.exitCode = 1;
    },
  );

/** `fail  port        …`: what was found, and then what to do. */
function linesOf(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .map(({ check, result, found, fix }) => {
      const sentences = fix === null ? found : `${found} ${fix}`;
      return `${result}  ${check.padEnd(width)}  ${printable(sentences)}`;
    })
    .join('\n');
}

/** This machine as the doctor sees it. */
async function worldOf(options: Options, checkMs: number): Promise<{ world: World; close(): void }> {
  const [{ createResolver, systemServers }, { ownAddresses, routable }, { greet }, { CONTROL_DOMAINS }] =
    await Promise.all([
      import('../engine/dns/resolver.ts'),
      import('../engine/dns/routable.ts'),
      import('../engine/smtp/control.ts'),
      import('../engine/smtp/control-hosts.ts'),
    ]);
  const [{ loadBlocklists }, { watchLists }, { systemClock: clock }, { randomInt }] = await Promise.all([
    import('../engine/doctor/blocklists.ts'),
    import('../engine/lists/watch.ts'),
    import('../kernel/clock.ts'),
    import('../kernel/ids.ts'),
  ]);
  const { dnsServers, dnsTimeoutMs, allowPrivateNetworks: allowPrivate, listsDir } = options;
  const resolver = createResolver({ servers: dnsServers ?? systemServers(), timeoutMs: dnsTimeoutMs, clock });
  const own = ownAddresses(networkInterfaces());
  const mayDial = (ip: string) => routable(ip, { allowPrivate, own });
  const lists = watchLists(listsDir, clock);
  const { helo = null, from = null } = askerOf(options) ?? {};
  const { smtpPort: port, smtpBind: bind } = options;
  return {
    world: {
      clock,
      checkMs,
      random: randomInt,
      resolver,
      asker: { helo, from, port, bind },
      greet: (address, limit) => greet(address, port, helo, { ...limit, mayDial }),
      mayDial,
      isPublic: (ip) => routable(ip, { allowPrivate, own: new Set() }),
      controls: CONTROL_DOMAINS,
      blocklists: loadBlocklists(),
      lists: { version: lists.current.version, problem: lists.problem },
      store: () => tryStore(options),
      httpDate: () => httpDate(options.listsDisposableUrl),
    },
    close: () => resolver.close(),
  };
}

/** As every command and the service do: brings the store to this version, then writes to it. */
async function tryStore(options: Options): Promise<string> {
  const store = await openedStore(options);
  try {
    const { to } = await store.migrate();
    await store.ping();
    return `${store.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, version ${to}`;
  } finally {
    await store.close();
  }
}

const HEAD_MS = 4_000;

async function httpDate(url: string): Promise<Awaited<ReturnType<World['httpDate']>>> {
  const { headers } = await fetch(url, { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(HEAD_MS) });
  return { from: new URL(url).host, date: headers.get('date'), age: headers.get('age') };
}
