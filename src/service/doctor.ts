import { networkInterfaces } from 'node:os';
import { createResolver, type Server, systemServers } from '../engine/dns/resolver.ts';
import { ownAddresses, routable } from '../engine/dns/routable.ts';
import { loadBlocklists } from '../engine/doctor/blocklists.ts';
import { CHECK_MS, diagnose, type Finding, isFit, type World } from '../engine/doctor/diagnose.ts';
import { watchLists } from '../engine/lists/watch.ts';
import { greet } from '../engine/smtp/control.ts';
import { CONTROL_DOMAINS } from '../engine/smtp/control-hosts.ts';
import { systemClock as clock } from '../kernel/clock.ts';
import { randomInt } from '../kernel/ids.ts';
import type { Store } from '../store/store.ts';

export { type Finding, isFit };

/** The options of the program that the doctor looks at. */
export interface DoctorOptions {
  readonly dnsServers: readonly Server[] | null;
  readonly dnsTimeoutMs: number;
  readonly allowPrivateNetworks: boolean;
  readonly listsDir: string;
  readonly listsDisposableUrl: string;
  readonly smtpPort: number;
  readonly smtpBind: readonly string[];
  /** Null: this host has no name to introduce itself with. */
  readonly asker: { readonly helo: string; readonly from: string } | null;
}

/** Is this host fit to ask other people's mail servers? Takes some ten seconds at most, and never rejects. */
export async function examine(options: DoctorOptions, store: World['store']): Promise<Finding[]> {
  const { dnsServers, dnsTimeoutMs, allowPrivateNetworks: allowPrivate, listsDir } = options;
  const resolver = createResolver({ servers: dnsServers ?? systemServers(), timeoutMs: dnsTimeoutMs, clock });
  const own = ownAddresses(networkInterfaces());
  const mayDial = (ip: string) => routable(ip, { allowPrivate, own });
  const lists = watchLists(listsDir, clock);
  const { helo = null, from = null } = options.asker ?? {};
  const { smtpPort: port, smtpBind: bind } = options;
  const world: World = {
    clock,
    checkMs: CHECK_MS,
    random: randomInt,
    resolver,
    asker: { helo, from, port, bind },
    greet: (address, limit) => greet(address, port, helo, { ...limit, mayDial }),
    mayDial,
    isPublic: (ip) => routable(ip, { allowPrivate, own: new Set() }),
    controls: CONTROL_DOMAINS,
    blocklists: loadBlocklists(),
    lists: { version: lists.current.version, problem: lists.problem },
    store,
    httpDate: () => httpDate(options.listsDisposableUrl),
  };
  return diagnose(world).finally(() => resolver.close());
}

/** As every command and the service do: brings the store to this version, writes to it, and says which it is. */
export async function tryStore(store: Store): Promise<string> {
  const { to } = await store.migrate();
  await store.ping();
  return `${store.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, version ${to}`;
}

const HEAD_MS = 4_000;

async function httpDate(url: string): Promise<Awaited<ReturnType<World['httpDate']>>> {
  const { headers } = await fetch(url, { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(HEAD_MS) });
  return { from: new URL(url).host, date: headers.get('date'), age: headers.get('age') };
}
