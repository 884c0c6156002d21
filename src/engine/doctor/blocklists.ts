/** Checks whether the address is on DNS blocklists (RFC 5782). */
import { readFileSync } from 'node:fs';
import { dataFile } from '../data.ts';
import { type Ask, askOf, type Blocklist, type DoctorDeps, type Finding, fail, isFailure, pass, warn } from './deps.ts';
import { addressesIn, reversed } from './reverse.ts';

export const loadBlocklists = (path: string = dataFile('dnsbl.json')): readonly Blocklist[] =>
  JSON.parse(readFileSync(path, 'utf8'));

type Standing =
  | { readonly is: 'clear' }
  | { readonly is: 'listed'; readonly why: string }
  /** The list gives no usable answer for any address. */
  | { readonly is: 'mute'; readonly why: string };

export async function checkBlocklists(deps: DoctorDeps, ip: string): Promise<Finding> {
  const ask = askOf(deps);
  const family = ip.includes(':') ? 6 : 4;
  const lists = deps.blocklists.filter(({ families }) => families.includes(family));
  const standings = await Promise.all(lists.map(async (list) => ({ list, standing: await standingOn(list, ip, ask) })));
  const listed = standings.flatMap(({ list, standing }) =>
    standing.is === 'listed' ? [{ list, why: standing.why }] : [],
  );
  const mute = standings.flatMap(({ list, standing }) => (standing.is === 'mute' ? [{ list, why: standing.why }] : []));
  const unanswered = mute.map(({ list, why }) => `${list.name} (${why})`).join(', ');
  if (listed.length > 0) {
    const found = `${ip} is on ${listed.map(({ list, why }) => `${list.name} (${why})`).join(', ')}.`;
    const fix = `Find and fix the cause, then request removal: ${listed.map(({ list }) => list.delist).join(' ')}`;
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
      'Set MAILVET_DNS_SERVERS to a resolver of your own (such as unbound on this host): the lists do not answer public ones.',
    );
  }
  return pass('blocklists', `${clean}${mute.length > 0 ? `Not answered by ${unanswered}.` : ''}`.trim());
}

/** 127.0.0.2 is on every list and 127.0.0.1 on none (RFC 5782 §5): a list that answers otherwise does not work. */
async function standingOn(list: Blocklist, ip: string, ask: Ask): Promise<Standing> {
  const v4 = list.families.includes(4);
  const [answer, positive, negative] = await Promise.all([
    ask(`${reversed(ip)}.${list.zone}`, 'A'),
    ask(`${reversed(v4 ? '127.0.0.2' : '::ffff:7f00:2')}.${list.zone}`, 'A'),
    ask(`${reversed(v4 ? '127.0.0.1' : '::ffff:7f00:1')}.${list.zone}`, 'A'),
  ]);
  if (isFailure(answer)) return { is: 'mute', why: `the query ended in "${answer.kind}"` };
  const codes = addressesIn(answer);
  const refusal = [...codes, ...addressesIn(positive)].find((code) => isRefusal(code, list));
  if (refusal !== undefined) return { is: 'mute', why: list.refusals[refusal] ?? `it answered ${refusal}` };
  if (!addressesIn(positive).some(isCode)) return { is: 'mute', why: 'its test entry is missing' };
  if (addressesIn(negative).some(isCode)) return { is: 'mute', why: 'it lists everything' };
  const meant = codes.filter(isCode).map((code) => list.codes[code] ?? `code ${code}`);
  return meant.length === 0 ? { is: 'clear' } : { is: 'listed', why: [...new Set(meant)].join('; ') };
}

const isCode = (address: string): boolean => address.startsWith('127.');
/** Spamhaus and others return 127.255.255.0/24 when they refuse a query. */
const isRefusal = (code: string, { refusals }: Blocklist): boolean =>
  code in refusals || code.startsWith('127.255.255.');
