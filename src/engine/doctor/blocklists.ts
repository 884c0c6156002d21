/** Is the address on DNS blocklists (RFC 5782)? */
import { readFileSync } from 'node:fs';
import { dataFile } from '../data.ts';
import { addressesIn, reversed } from './reverse.ts';
import { type Ask, askOf, type Blocklist, type Finding, fail, isFailure, pass, type World, warn } from './world.ts';

export const loadBlocklists = (path: string = dataFile('dnsbl.json')): readonly Blocklist[] =>
  JSON.parse(readFileSync(path, 'utf8')) as Blocklist[];

type Standing =
  | { readonly is: 'clear' }
  | { readonly is: 'listed'; readonly why: string }
  /** It tells us nothing, whatever the address. */
  | { readonly is: 'mute'; readonly why: string };

export async function checkBlocklists(world: World, ip: string): Promise<Finding> {
  const ask = askOf(world);
  const family = ip.includes(':') ? 6 : 4;
  const lists = world.blocklists.filter(({ families }) => families.includes(family));
  const standings = await Promise.all(lists.map(async (list) => ({ list, standing: await standingOn(list, ip, ask) })));
  const listed = standings.flatMap(({ list, standing }) =>
    standing.is === 'listed' ? [{ list, why: standing.why }] : [],
  );
  const mute = standings.flatMap(({ list, standing }) => (standing.is === 'mute' ? [{ list, why: standing.why }] : []));
  const unanswered = mute.map(({ list, why }) => `${list.name} (${why})`).join(', ');
  if (listed.length > 0) {
    const found = `${ip} is on ${listed.map(({ list, why }) => `${list.name} (${why})`).join(', ')}.`;
    const fix = `Find out why, stop that, and ask for removal: ${listed.map(({ list }) => list.delist).join(' ')}`;
    return listed.some(({ list }) => list.listed === 'fail')
      ? fail('blocklists', found, fix)
      : warn('blocklists', found, fix);
  }
  const clear = lists.filter(({ name }) => !mute.some(({ list }) => list.name === name)).map(({ name }) => name);
  const clean = clear.length === 0 ? '' : `${ip} is not on ${clear.join(', ')}. `;
  if (clear.length === 0 || mute.some(({ list }) => list.listed === 'fail')) {
    return warn(
      'blocklists',
      `${clean}Not answered by ${unanswered || 'any list'}.`,
      'Use a resolver of your own (such as unbound on this host) in MAILVET_DNS_SERVERS: the lists do not answer public ones.',
    );
  }
  return pass('blocklists', `${clean}${mute.length > 0 ? `Not answered by ${unanswered}.` : ''}`.trim());
}

/** 127.0.0.2 is on every list and 127.0.0.1 on none (RFC 5782 §5): what says otherwise is no working list. */
async function standingOn(list: Blocklist, ip: string, ask: Ask): Promise<Standing> {
  const v4 = list.families.includes(4);
  const [told, positive, negative] = await Promise.all([
    ask(`${reversed(ip)}.${list.zone}`, 'A'),
    ask(`${reversed(v4 ? '127.0.0.2' : '::ffff:7f00:2')}.${list.zone}`, 'A'),
    ask(`${reversed(v4 ? '127.0.0.1' : '::ffff:7f00:1')}.${list.zone}`, 'A'),
  ]);
  if (isFailure(told)) return { is: 'mute', why: `the question ended in "${told.kind}"` };
  const codes = addressesIn(told);
  const refusal = [...codes, ...addressesIn(positive)].find((code) => isRefusal(code, list));
  if (refusal !== undefined) return { is: 'mute', why: list.refusals[refusal] ?? `it answered ${refusal}` };
  if (!addressesIn(positive).some(isCode)) return { is: 'mute', why: 'its test entry is missing' };
  if (addressesIn(negative).some(isCode)) return { is: 'mute', why: 'it lists everything' };
  const meant = codes.filter(isCode).map((code) => list.codes[code] ?? `code ${code}`);
  return meant.length === 0 ? { is: 'clear' } : { is: 'listed', why: [...new Set(meant)].join('; ') };
}

const isCode = (address: string): boolean => address.startsWith('127.');
/** 127.255.255.0/24 is where Spamhaus and, after it, others put their refusals. */
const isRefusal = (code: string, { refusals }: Blocklist): boolean =>
  code in refusals || code.startsWith('127.255.255.');
