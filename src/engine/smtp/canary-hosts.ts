/** Canary hosts: can the mail hosts of a few large providers be reached on the port, and do they reject our address? */
import type { Clock } from '../../kernel/clock.ts';
import type { Resolver } from '../dns/resolver.ts';
import type { SmtpEvidence } from '../evidence.ts';
import { type EngineDeps, runOffline, runOnline } from '../verify.ts';
import { probeGreeting } from './connectivity-probe.ts';
import { CANARIES } from './tenants.ts';

/** Providers whose mail hosts are always up, of four different operators. */
export const CANARY_DOMAINS: readonly string[] = ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com'];

export interface CanaryHost {
  readonly domain: string;
  readonly host: string;
  /** Addresses that may be dialled. */
  readonly v4: readonly string[];
  readonly v6: readonly string[];
}

/** `open`: one was reached. `closed`: none of two or more. `unusable`: fewer than two could be tried. */
export type Connectivity = 'open' | 'closed' | 'unusable';

interface CanaryDeps {
  readonly clock: Clock;
  readonly resolver: Pick<Resolver, 'ask'>;
  readonly mayDial: (address: string) => boolean;
  readonly port: number;
  readonly helo: string | null;
  readonly bind: readonly string[];
}

const RESOLVE_MS = 3_000;
const GREET_MS = 4_000;
const ANSWER_MS = 20_000;

/** The first mail host of each domain that has an address to dial; domains without one are omitted. Never rejects. */
export async function resolveCanaryHosts(
  domains: readonly string[],
  deps: Pick<CanaryDeps, 'resolver' | 'mayDial'>,
  deadline: number,
): Promise<readonly CanaryHost[]> {
  const found = await Promise.all(domains.map((domain) => resolveCanaryHost(domain, deps, deadline)));
  return found.filter((host) => host !== null);
}

async function resolveCanaryHost(
  domain: string,
  { resolver, mayDial }: Pick<CanaryDeps, 'resolver' | 'mayDial'>,
  deadline: number,
): Promise<CanaryHost | null> {
  const answer = await resolver.ask(domain, 'MX', { deadline });
  const records = answer.kind === 'records' ? answer.records.filter((r) => r.type === 'MX') : [];
  const hosts = records.sort((a, b) => a.priority - b.priority).map(({ host }) => host);
  for (const host of hosts.slice(0, 2)) {
    const [a, aaaa] = await Promise.all([
      resolver.ask(host, 'A', { deadline }),
      resolver.ask(host, 'AAAA', { deadline }),
    ]);
    const dialled = (from: typeof a) =>
      from.kind === 'records'
        ? from.records.flatMap((r) => ('address' in r && mayDial(r.address) ? [r.address] : []))
        : [];
    const [v4, v6] = [dialled(a), dialled(aaaa)];
    if (v4.length + v6.length > 0) return { domain, host, v4, v6 };
  }
  return null;
}

/** Probes all canary hosts at once, over IPv4 where possible; resolves as soon as one was reached. Never rejects. */
export async function probeConnectivity(deps: CanaryDeps, signal: AbortSignal): Promise<Connectivity> {
  const { clock, bind, mayDial, port, helo } = deps;
  const hosts = await resolveCanaryHosts(CANARY_DOMAINS, deps, clock.elapsed() + RESOLVE_MS);
  const bindOf = (family: 'v4' | 'v6') => bind.find((ip) => ip.includes(':') === (family === 'v6')) ?? null;
  const usable = (family: 'v4' | 'v6') => bind.length === 0 || bindOf(family) !== null;
  const tried = hosts.flatMap(({ v4, v6 }) => {
    const [first, second] = [usable('v4') ? v4[0] : undefined, usable('v6') ? v6[0] : undefined];
    const address = first ?? second;
    return address === undefined ? [] : [{ address, bind: bindOf(address.includes(':') ? 'v6' : 'v4') }];
  });
  if (tried.length === 0) return 'unusable';
  const reached = tried.map(async ({ address, bind }) => {
    const { connected } = await probeGreeting(address, port, helo, { withinMs: GREET_MS, bind, mayDial, signal });
    if (!connected) throw new Error(`${address} was not reached`);
  });
  return Promise.any(reached).then(
    () => 'open',
    () => (tried.length >= 2 && !signal.aborted ? 'closed' : 'unusable'),
  );
}

/**
 * What the canary domains answer about the one mailbox that each has to have, `postmaster` (RFC 5321 §4.5.1): many
 * servers reject an address only when a recipient is named. Null where no mail host was found. Never rejects.
 */
export const askCanaries = (engine: EngineDeps, signal: AbortSignal): Promise<readonly (SmtpEvidence | null)[]> =>
  Promise.all(
    CANARY_DOMAINS.map(async (domain) => {
      const limit = { timeoutMs: ANSWER_MS, signal, tenant: CANARIES };
      return (await runOnline(runOffline(`postmaster@${domain}`, 'smtp', engine), limit, engine)).smtp;
    }),
  );
