/** Connects to the canary hosts once; the port and identity checks use their greetings and the addresses they saw. */
import { isIP } from 'node:net';
import type { Greeting } from '../smtp/connectivity-probe.ts';
import { type CanaryHost, resolveCanaryHosts } from '../smtp/egress.ts';
import { type DoctorDeps, type Finding, fail, pass, warn } from './deps.ts';

/** Greetings over one egress path: a local address (null: the system's choice) and a family. */
interface EgressPath {
  readonly bind: string | null;
  readonly family: 4 | 6;
  readonly greetings: readonly (Greeting & { readonly host: string })[];
}

interface EgressSurvey {
  readonly canaries: readonly CanaryHost[];
  readonly paths: readonly EgressPath[];
}

/** Share of a check's time for DNS; the rest is for the greetings. */
const RESOLVE_SHARE = 0.4;
/** Maximum number of local addresses checked. */
const MOST_PATHS = 16;

export async function surveyEgress(deps: DoctorDeps): Promise<EgressSurvey> {
  const began = deps.clock.elapsed();
  const canaries = await resolveCanaryHosts(deps.canaryDomains, deps, began + deps.checkMs * RESOLVE_SHARE);
  const { bind } = deps.sender;
  const egresses: readonly { bind: string | null; family: 4 | 6 }[] =
    bind.length === 0
      ? [
          { bind: null, family: 4 },
          { bind: null, family: 6 },
        ]
      : bind.slice(0, MOST_PATHS).map((ip) => ({ bind: ip, family: isIP(ip) === 6 ? 6 : 4 }));
  const withinMs = deps.checkMs * 0.9 - (deps.clock.elapsed() - began);
  const paths = await Promise.all(egresses.map((egress) => probePath(deps, canaries, egress, withinMs)));
  return { canaries, paths };
}

async function probePath(
  deps: DoctorDeps,
  canaries: readonly CanaryHost[],
  { bind, family }: { bind: string | null; family: 4 | 6 },
  withinMs: number,
): Promise<EgressPath> {
  const greetings = await Promise.all(
    canaries.flatMap(({ host, v4, v6 }) => {
      const address = (family === 4 ? v4 : v6)[0];
      return address === undefined
        ? []
        : [deps.probeGreeting(address, { withinMs, bind }).then((greeting) => ({ ...greeting, host }))];
    }),
  );
  return { bind, family, greetings };
}

/** Checks that mail servers can be reached and send a greeting. */
export function checkPort(deps: DoctorDeps, { canaries, paths }: EgressSurvey): Finding[] {
  const { port } = deps.sender;
  if (canaries.length === 0) {
    const asked = deps.canaryDomains.join(', ');
    return [warn('port', `Not tried: no mail host of ${asked} could be found.`, 'Fix the resolver first.')];
  }
  // Without MAILVET_SMTP_BIND a host may have no IPv6 at all, and needs none.
  const needed = paths.filter(({ bind, family, greetings }) => bind !== null || family === 4 || reached(greetings) > 0);
  return needed.map((path) => portFinding(path, port));
}

const reached = (greetings: EgressPath['greetings']): number => greetings.filter(({ connected }) => connected).length;

function portFinding({ bind, family, greetings }: EgressPath, port: number): Finding {
  const from = bind === null ? (family === 6 ? ' over IPv6' : '') : ` from ${bind}`;
  const connected = greetings.filter((g) => g.connected);
  const names = greetings.map(({ host }) => host).join(', ');
  if (greetings.length === 0) return warn('port', `Not tried${from}: the canary hosts have no such address.`, null);
  if (greetings.every(({ error }) => error === 'EADDRNOTAVAIL')) {
    return fail('port', `${bind} is not an address of this host.`, 'Set MAILVET_SMTP_BIND to addresses of this host.');
  }
  if (connected.length === 0) {
    const why = [...new Set(greetings.map(({ error }) => (error === 'deadline' ? 'no answer' : error)))].join(', ');
    const found = `No mail server can be reached on port ${port}${from} (${names}: ${why}).`;
    const fix = `Have your provider open outbound port ${port}, and check this host's firewall. Until then only the mx level works.`;
    return greetings.length >= 2 ? fail('port', found, fix) : warn('port', found, fix);
  }
  const welcome = connected.filter(({ code }) => code !== null && code < 400);
  if (welcome.length === 0) {
    const said = connected.find((g) => g.said !== null)?.said;
    const found =
      said === undefined
        ? `Port ${port} opens${from}, but no mail server sends a banner (${names}).`
        : `Every mail server tried${from} rejects this host: "${said}".`;
    return fail(
      'port',
      found,
      said === undefined
        ? `Something between this host and the Internet intercepts the connections; ask your provider to open port ${port}.`
        : 'See the reply, and ptr and blocklists below; or connect from another address with MAILVET_SMTP_BIND.',
    );
  }
  return pass('port', `Open${from}: ${welcome.length} of ${greetings.length} mail servers greeted this host.`);
}

/** An address under which mail servers see us. */
export interface Egress {
  readonly ip: string;
  /** How it was determined, as a phrase. */
  readonly by: string;
}

/** One address per working egress path: as a server echoed it, else the local one if that is public. */
export function egressOf(deps: DoctorDeps, { paths }: EgressSurvey): Egress[] {
  const found = new Map<string, Egress>();
  for (const { bind, family, greetings } of paths) {
    const connected = greetings.filter((g) => g.connected);
    const isOne = (ip: string | null): ip is string => ip !== null && isIP(ip) === family && deps.isPublic(ip);
    const [echo] = connected.flatMap(({ greetedAs: ip, host }) =>
      isOne(ip) ? [{ ip, by: `as seen by ${host}` }] : [],
    );
    const local = connected.find(({ localAddress }) => isOne(localAddress))?.localAddress ?? null;
    if (echo) found.set(echo.ip, echo);
    else if (isOne(bind)) found.set(bind, { ip: bind, by: 'from MAILVET_SMTP_BIND' });
    else if (isOne(local)) found.set(local, { ip: local, by: 'the local end of the connection' });
  }
  return [...found.values()];
}
