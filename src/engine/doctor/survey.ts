/** One look outside: who greets us, and by which address they see us. The port and the identity checks read it. */
import { isIP } from 'node:net';
import type { Greeting } from '../smtp/control.ts';
import { type ControlHost, controlHosts } from '../smtp/control-hosts.ts';
import { type Finding, fail, pass, type World, warn } from './world.ts';

/** Greetings of one way out: a local address (null: the system's choice) and a family. */
export interface Way {
  readonly bind: string | null;
  readonly family: 4 | 6;
  readonly greetings: readonly (Greeting & { readonly host: string })[];
}

export interface Survey {
  readonly controls: readonly ControlHost[];
  readonly ways: readonly Way[];
}

/** Of the time of a check, for the DNS; the rest is for the greetings. */
const RESOLVE_SHARE = 0.4;
/** More local addresses than this are not all looked at. */
const MOST_WAYS = 16;

export async function lookOutside(world: World): Promise<Survey> {
  const began = world.clock.elapsed();
  const controls = await controlHosts(world.controls, world, began + world.checkMs * RESOLVE_SHARE);
  const { bind } = world.asker;
  const doors: readonly { bind: string | null; family: 4 | 6 }[] =
    bind.length === 0
      ? [
          { bind: null, family: 4 },
          { bind: null, family: 6 },
        ]
      : bind.slice(0, MOST_WAYS).map((ip) => ({ bind: ip, family: isIP(ip) === 6 ? 6 : 4 }));
  const withinMs = world.checkMs * 0.9 - (world.clock.elapsed() - began);
  const ways = await Promise.all(doors.map((door) => goOut(world, controls, door, withinMs)));
  return { controls, ways };
}

async function goOut(
  world: World,
  controls: readonly ControlHost[],
  { bind, family }: { bind: string | null; family: 4 | 6 },
  withinMs: number,
): Promise<Way> {
  const greetings = await Promise.all(
    controls.flatMap(({ host, v4, v6 }) => {
      const address = (family === 4 ? v4 : v6)[0];
      return address === undefined
        ? []
        : [world.greet(address, { withinMs, bind }).then((greeting) => ({ ...greeting, host }))];
    }),
  );
  return { bind, family, greetings };
}

/** Can mail servers be reached, and do they greet us? */
export function checkPort(world: World, { controls, ways }: Survey): Finding[] {
  const { port } = world.asker;
  if (controls.length === 0) {
    const asked = world.controls.join(', ');
    return [warn('port', `Not tried: none of the mail hosts of ${asked} could be found.`, 'Mend the resolver first.')];
  }
  // Without MAILVET_SMTP_BIND a host may have no IPv6 at all, and needs none.
  const needed = ways.filter(({ bind, family, greetings }) => bind !== null || family === 4 || reached(greetings) > 0);
  return needed.map((way) => portOf(way, port));
}

const reached = (greetings: Way['greetings']): number => greetings.filter(({ connected }) => connected).length;

function portOf({ bind, family, greetings }: Way, port: number): Finding {
  const from = bind === null ? (family === 6 ? ' over IPv6' : '') : ` from ${bind}`;
  const connected = greetings.filter((g) => g.connected);
  const names = greetings.map(({ host }) => host).join(', ');
  if (greetings.length === 0) return warn('port', `Not tried${from}: the control hosts have no such address.`, null);
  if (greetings.every(({ error }) => error === 'EADDRNOTAVAIL')) {
    return fail(
      'port',
      `${bind} is not an address of this host.`,
      'Put addresses of this host into MAILVET_SMTP_BIND.',
    );
  }
  if (connected.length === 0) {
    const why = [...new Set(greetings.map(({ error }) => (error === 'deadline' ? 'no answer' : error)))].join(', ');
    const found = `No mail server can be reached on port ${port}${from} (${names}: ${why}).`;
    const fix = `Have your provider open outbound port ${port}, and look at this host's firewall. Until then only the level mx works.`;
    return greetings.length >= 2 ? fail('port', found, fix) : warn('port', found, fix);
  }
  const welcome = connected.filter(({ code }) => code !== null && code < 400);
  if (welcome.length === 0) {
    const said = connected.find((g) => g.said !== null)?.said;
    const found =
      said === undefined
        ? `Port ${port} opens${from}, but no mail server says anything behind it (${names}).`
        : `Every mail server asked${from} refuses this host: "${said}".`;
    return fail(
      'port',
      found,
      said === undefined
        ? `Something between this host and the Internet takes the connections; ask your provider to open port ${port}.`
        : 'Look at what it says, and at ptr and blocklists below; ask from another address with MAILVET_SMTP_BIND.',
    );
  }
  return pass('port', `Open${from}: ${welcome.length} of ${greetings.length} mail servers greeted this host.`);
}

/** An address by which mail servers see us. */
export interface Egress {
  readonly ip: string;
  /** Who says so, as words. */
  readonly by: string;
}

/** One address for each way out that works: as a server repeated it, else the local one where that is public. */
export function egressOf(world: World, { ways }: Survey): Egress[] {
  const found = new Map<string, Egress>();
  for (const { bind, family, greetings } of ways) {
    const connected = greetings.filter((g) => g.connected);
    const isOne = (ip: string | null): ip is string => ip !== null && isIP(ip) === family && world.isPublic(ip);
    const echo = connected.find(({ greetedAs }) => isOne(greetedAs));
    const local = connected.find(({ localAddress }) => isOne(localAddress))?.localAddress ?? null;
    if (echo) found.set(echo.greetedAs!, { ip: echo.greetedAs!, by: `as ${echo.host} sees it` });
    else if (isOne(bind)) found.set(bind, { ip: bind, by: 'from MAILVET_SMTP_BIND' });
    else if (isOne(local)) found.set(local, { ip: local, by: 'the local end of the connection' });
  }
  return [...found.values()];
}
